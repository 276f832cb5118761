"""C and C++ text, split into what is code and what is comment, for the checkers beside this file.

Line numbers are kept: every function here returns text with as many lines as it was given.
"""
import re

_TOKEN = re.compile(
    r"""
    (?P<raw>R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)")
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<char>'(?:\\.|[^'\\\n]){1,10}')
  | (?P<line>//[^\n]*)
  | (?P<block>/\*.*?\*/)
  | (?P<digits>\b[0-9][0-9a-fA-FxXuUlL.']*)
    """,
    re.VERBOSE | re.DOTALL,
)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def code_only(text):
    """Comments become spaces, string and character contents become spaces between their quotes."""

    def replace(match):
        found = match.group(0)
        kind = match.lastgroup if match.lastgroup != "tag" else "raw"
        if kind in ("line", "block"):
            return _blank(found)
        if kind == "digits":
            return found
        return found[0] + _blank(found[1:-1]) + found[-1] if len(found) > 1 else found

    return _TOKEN.sub(replace, text)


def comments_only(text):
    """Everything but comments becomes spaces."""
    out, last = [], 0
    for match in _TOKEN.finditer(text):
        out.append(_blank(text[last : match.start()]))
        is_comment = match.group("line") or match.group("block")
        out.append(match.group(0) if is_comment else _blank(match.group(0)))
        last = match.end()
    out.append(_blank(text[last:]))
    return "".join(out)


_CONTAINER = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def functions(text):
    """Yields (first_line, last_line, head) of every function body, lambdas inside counted with it.

    Works on braces: a block that opens outside of any function, after text with a parameter list,
    is a function; after namespace, class, struct, union, enum or extern "C" it is a container.
    """
    code = code_only(text)
    # Preprocessor lines hold no blocks of their own; a macro with braces is balanced or ignored.
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: _blank(m.group(0)), code, flags=re.M)
    head_start, position, line = 0, 0, 1
    stack = []  # "container" | "function" | "block"
    began = None
    while position < len(code):
        char = code[position]
        if char == "\n":
            line += 1
        elif char == "{":
            head = code[head_start:position].strip()
            if "function" in stack or "block" in stack:
                stack.append("block")
            elif _CONTAINER.search(head) and not head.endswith(")"):
                stack.append("container")
            elif "(" in head and not head.endswith(("=", ",", "(", "return")):
                stack.append("function")
                began = (line - head.count("\n"), " ".join(head.split()))
            else:
                stack.append("block")
            head_start = position + 1
        elif char == "}":
            if stack and stack.pop() == "function":
                yield began[0], line, began[1]
            head_start = position + 1
        elif char == ";":
            head_start = position + 1
        position += 1
