"""A crate, a module, a package, a virtual environment, a Maven project: built and tested inside,
offline, with the tools of Debian's packages."""
import os

from support.marks import accept, check, timeout
from support.real_work import has_line, job, needs, project

CRATE = {
    "Cargo.toml": """[package]
name = "sheet"
version = "0.1.0"
edition = "2021"
build = "build.rs"

[dependencies]
calc = { path = "calc" }
derive = { path = "derive" }
""",
    "build.rs": """use std::{env, fs, path::Path};
fn main() {
    let out = env::var("OUT_DIR").unwrap();
    fs::write(Path::new(&out).join("made.rs"), "pub const MADE: i32 = 2;").unwrap();
}
""",
    "src/main.rs": """include!(concat!(env!("OUT_DIR"), "/made.rs"));
#[derive(derive::Forty)]
struct Cell;
fn main() { println!("{}", calc::sum(&[Cell::forty(), MADE])); }
#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    #[test]
    fn sums() { assert_eq!(calc::sum(&[1, 2, 3]), 6); }
    #[test]
    fn talks_to_itself() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"hello"));
        let mut text = String::new();
        std::net::TcpStream::connect(address).unwrap().read_to_string(&mut text).unwrap();
        server.join().unwrap().unwrap();
        assert_eq!(text, "hello");
    }
}
""",
    "calc/Cargo.toml": "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    "calc/src/lib.rs": "/// ```\n/// assert_eq!(calc::sum(&[40, 2]), 42);\n/// ```\n"
                       "pub fn sum(values: &[i32]) -> i32 { values.iter().sum() }\n",
    "derive/Cargo.toml": "[package]\nname = \"derive\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
                         "[lib]\nproc-macro = true\n",
    "derive/src/lib.rs": """use proc_macro::TokenStream;
#[proc_macro_derive(Forty)]
pub fn forty(_: TokenStream) -> TokenStream {
    "impl Cell { fn forty() -> i32 { 40 } }".parse().unwrap()
}
""",
    ".gitignore": "target/\n",
}


@accept
@timeout(600)
def test_cargo_crate(box):
    """A build script, a procedural macro, a documentation test, threads and loopback."""
    needs("cargo", "rustc")
    repo = project(box, CRATE)
    run, names = job(box, repo, """
        cargo build --offline
        cargo test --offline --workspace
        cargo run --offline --quiet
        cargo build --offline --release""", seconds=500)
    has_line(run, "42")
    check({"Cargo.lock", "target/debug/sheet"} <= set(names), f"changed: {names[:20]}")


GO = {
    "go.mod": "module example.test/sheet\n\ngo 1.19\n\nrequire example.test/calc v1.0.0\n",
    "vendor/modules.txt": "# example.test/calc v1.0.0\n## explicit\nexample.test/calc\n",
    "vendor/example.test/calc/calc.go":
        "package calc\n\nfunc Sum(a ...int) (s int) {\n\tfor _, x := range a {\n\t\ts += x\n\t}\n"
        "\treturn\n}\n",
    "main.go": 'package main\n\nimport (\n\t"fmt"\n\n\t"example.test/calc"\n)\n\n'
               'func main() { fmt.Println(calc.Sum(40, 2)) }\n',
    "main_test.go": """package main

import (
	"io"
	"net"
	"os"
	"os/exec"
	"testing"

	"example.test/calc"
)

func TestSum(t *testing.T) {
	if calc.Sum(1, 2, 3) != 6 {
		t.Fatal("sum")
	}
}

func TestLoopbackAndUnixSocket(t *testing.T) {
	for _, where := range [][2]string{{"tcp", "127.0.0.1:0"}, {"tcp6", "[::1]:0"},
		{"unix", t.TempDir() + "/s"}} {
		listener, err := net.Listen(where[0], where[1])
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c, _ := listener.Accept()
			io.WriteString(c, "hello")
			c.Close()
		}()
		c, err := net.Dial(where[0], listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := io.ReadAll(c); string(text) != "hello" {
			t.Fatal(text)
		}
	}
}

func TestChild(t *testing.T) {
	out, err := exec.Command("sh", "-c", "echo $0", "x").Output()
	if err != nil || string(out) != "x\\n" {
		t.Fatal(err, out)
	}
	if os.Getenv("BAWN_SANDBOX") == "" {
		t.Fatal("not inside")
	}
}
""",
}


@accept
@timeout(600)
def test_go_module(box):
    needs("go", "gcc")
    repo = project(box, GO)
    run, names = job(box, repo, """
        gofmt -l main.go main_test.go
        go build -o sheet . && ./sheet
        go vet ./...
        go test ./...
        go test -race ./...""", seconds=500)
    has_line(run, "42")
    check("sheet" in names, f"changed: {names}")


NPM = {
    "package.json": """{"name": "sheet", "version": "1.0.0", "private": true, "type": "module",
"scripts": {"build": "node build.mjs", "test": "node --test", "prebuild": "twice"},
"dependencies": {"twice": "file:vendor/twice-1.0.0.tgz"}}
""",
    "build.mjs": """import {mkdirSync, writeFileSync} from "node:fs";
import twice from "twice";
mkdirSync("dist", {recursive: true});
writeFileSync("dist/out.txt", `${twice(21)}\\n`);
""",
    "test/sheet.test.js": """import test from "node:test";
import assert from "node:assert";
import {createServer, connect} from "node:net";
import {Worker} from "node:worker_threads";
import {watch, writeFileSync} from "node:fs";
import twice from "twice";
test("twice", () => assert.equal(twice(21), 42));
test("loopback", async () => {
  const server = createServer(s => s.end("hello")).listen(0, "localhost");
  await new Promise(r => server.once("listening", r));
  const text = await new Promise(r => connect(server.address().port, "localhost")
      .on("data", d => r(String(d))));
  server.close();
  assert.equal(text, "hello");
});
test("worker", async () => {
  const worker = new Worker("require('worker_threads').parentPort.postMessage(42)", {eval: true});
  assert.equal(await new Promise(r => worker.once("message", r)), 42);
});
test("watch", async () => {
  const seen = new Promise(r => { const w = watch(".", () => { w.close(); r(true); }); });
  writeFileSync("touched.txt", "x");
  assert.ok(await seen);
});
""",
    "twice/package.json": """{"name": "twice", "version": "1.0.0", "main": "index.js",
"bin": {"twice": "cli.js"}}
""",
    "twice/index.js": "module.exports = x => 2 * x;\n",
    "twice/cli.js": "#!/usr/bin/env node\nconsole.log(require('./index.js')(21));\n",
    ".gitignore": "node_modules/\ndist/\n",
}
QUIET_NPM = ("--offline", "--no-audit", "--no-fund", "--no-update-notifier")


@accept
@timeout(600)
def test_npm_project_with_node_modules(box):
    """node_modules was installed on the host and is ignored by git: the job uses it as it is, and
    an offline reinstall inside stays inside."""
    needs("node", "npm")
    repo = project(box, NPM, prepare=(
        ("mkdir", "vendor"), ("npm", "pack", "--silent", "--pack-destination", "vendor", "./twice"),
        ("npm", "install", *QUIET_NPM), ("chmod", "755", "node_modules/twice/cli.js")))
    check(os.path.isfile(f"{repo}/node_modules/twice/index.js"), "nothing was installed")
    run, names = job(box, repo, f"""
        npm run build && cat dist/out.txt
        npm test
        rm -rf node_modules && npm ci {" ".join(QUIET_NPM)}
        npm test --silent >/dev/null""", seconds=500)
    has_line(run, "42")
    check("dist/out.txt" in names, f"changed: {names[:20]}")


PYTHON = {
    "pyproject.toml": """[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "sheet"
version = "1.0"
[project.scripts]
sheet = "sheet:main"
[tool.setuptools]
py-modules = ["sheet"]
""",
    "sheet.py": "def total(*values):\n    return sum(values)\n\n\n"
                "def main():\n    print(total(40, 2))\n",
    "test_sheet.py": """import asyncio, concurrent.futures, multiprocessing, sqlite3, ssl, unittest
import sheet


class Sheet(unittest.TestCase):
    def test_total(self):
        self.assertEqual(sheet.total(1, 2, 3), 6)

    def test_processes(self):
        with multiprocessing.Pool(2) as pool:
            self.assertEqual(pool.map(abs, [-1, -2]), [1, 2])
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            self.assertEqual(list(pool.map(abs, [-3])), [3])

    def test_loop(self):
        async def child():
            process = await asyncio.create_subprocess_exec("echo", "x", stdout=-1)
            return (await process.communicate())[0]
        self.assertEqual(asyncio.run(child()), b"x\\n")

    def test_database(self):
        with sqlite3.connect("test.db") as base:
            base.execute("pragma journal_mode=wal")
            base.execute("create table t(x)")
            base.execute("insert into t values (42)")
        self.assertEqual(base.execute("select x from t").fetchall(), [(42,)])

    def test_authorities(self):
        self.assertTrue(ssl.create_default_context().cert_store_stats()["x509_ca"])
""",
    ".gitignore": ".venv/\n*.db*\nbuild/\n*.egg-info/\nwheels/\n__pycache__/\n",
}


def test_python_environment_without_pip(box):
    repo = project(box, PYTHON)
    run, names = job(box, repo, """
        /usr/bin/python3 -m venv --without-pip --system-site-packages .venv
        .venv/bin/python -c 'import sys; print(sys.prefix)'
        .venv/bin/python -m unittest -q
        .venv/bin/python -c 'import sheet; sheet.main()'""")
    has_line(run, f"{repo}/.venv")
    has_line(run, "42")
    check(".venv/bin/python" in names, f"changed: {names[:20]}")


@accept
@timeout(600)
def test_python_environment_with_pip_from_a_local_wheel(box):
    """The environment was made on the host, as most are; one inside is made as well."""
    needs("pip3")
    repo = project(box, PYTHON, prepare=(("/usr/bin/python3", "-m", "venv", ".venv"),))
    run, names = job(box, repo, """
        /usr/bin/python3 -m pip wheel --no-index --no-deps --no-build-isolation -q -w wheels .
        .venv/bin/pip install --no-index --find-links wheels -q sheet
        .venv/bin/sheet
        /usr/bin/python3 -m venv .venv2
        .venv2/bin/pip install --no-index --find-links wheels -q sheet
        .venv2/bin/python -m unittest -q && .venv2/bin/sheet""", seconds=500)
    has_line(run, "42")
    check(".venv/bin/sheet" in names, f"changed: {names[:20]}")


POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example.test</groupId><artifactId>sheet</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version>
      <scope>test</scope></dependency>
  </dependencies>
</project>
"""
JAVA = {
    "pom.xml": POM,
    "src/main/java/sheet/Sheet.java":
        "package sheet;\npublic class Sheet {\n"
        "  public static int sum(int... v) { int s = 0; for (int x : v) s += x; return s; }\n"
        "  public static void main(String[] a) { System.out.println(sum(40, 2)); }\n}\n",
    "src/test/java/sheet/SheetTest.java": """package sheet;
import java.net.*;
import org.junit.*;
public class SheetTest {
  @Test public void sums() { Assert.assertEquals(6, Sheet.sum(1, 2, 3)); }
  @Test public void knowsItsHost() throws Exception {
    Assert.assertTrue(InetAddress.getLocalHost().isLoopbackAddress());
  }
  @Test public void loopback() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
      server.accept().getOutputStream().write(42);
      Assert.assertEquals(42, client.getInputStream().read());
    }
  }
}
""",
    ".gitignore": "target/\n",
}


@accept
@timeout(600)
def test_maven_project(box):
    """Plugins and JUnit come from Debian's own repository, offline."""
    needs("mvn", "java")
    repo = project(box, JAVA)
    run, names = job(box, repo, """
        mvn -q -o -B -Dmaven.repo.local=/usr/share/maven-repo package
        echo; java -cp target/sheet-1.jar sheet.Sheet
        grep -h 'Tests run' target/surefire-reports/*.txt""", seconds=500)
    has_line(run, "42")
    check("Tests run: 3, Failures: 0, Errors: 0" in run.out, run.told())
    check("target/sheet-1.jar" in names, f"changed: {names[:20]}")
