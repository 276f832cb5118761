# fish completion for bawn, made by `bawn completions fish`

set -g __bawn_value_options -w --workspace --keep-for --in --name --level --profile --ro --rw --hide --show --env --pass-env --secret --memory --cpu --pids --disk --inodes --output --timeout --idle-timeout --best-effort --receipt --status-fd -b --branch -m --message --path --reviewed --yes-path --older

function __bawn_sandboxes
    bawn list --json 2>/dev/null | sed -n 's/.*"name": "\([a-z0-9_-]*\)".*/\1/p'
    echo @last
end

function __bawn_verb_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

# Prints the words of the job's own command, the word being typed last; nothing before it starts.
function __bawn_command_words
    set -l words (commandline -opc) (commandline -ct)
    set -l i 3
    while test $i -le (count $words)
        set -l word $words[$i]
        if test "$word" = --
            set i (math $i + 1)
            break
        else if contains -- "$word" $__bawn_value_options
            set i (math $i + 2)
        else if string match -q -- '-*' "$word"
            set i (math $i + 1)
        else
            break
        end
    end
    if test $i -le (count $words)
        printf '%s\n' $words[$i..-1]
    end
end

function __bawn_command
    complete -C (string join ' ' -- (__bawn_command_words))
end

# True while options of bawn itself may stand here. "bawn run git -" is git's, "bawn run -" is not.
function __bawn_takes
    __bawn_verb_is $argv
    or return 1
    __bawn_verb_is run plan
    or return 0
    test (count (__bawn_command_words)) -le 1
end

complete -c bawn -f
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a run -d 'run a command in a disposable sandbox over this tree'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a shell -d 'open your shell in a disposable sandbox'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a diff -d 'show what a sandbox changed'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a publish -d 'commit a sandbox\'s changes to a branch'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a apply -d 'write a sandbox\'s changes into your work tree'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a discard -d 'drop a sandbox and its changes'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a list -d 'list the sandboxes of this work tree'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a show -d 'show the receipt of a sandbox\'s newest job'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a logs -d 'print the kept output of a sandbox\'s newest job'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a why -d 'say what was denied, by which rule, and how to change it'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a plan -d 'show what run would do, without doing it'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a doctor -d 'say what this machine can enforce, and what is missing'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a completions -d 'print the completion script of a shell'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a help -d 'explain a command'
complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a version -d 'print the version'
complete -c bawn -n '__bawn_verb_is run' -a '(__bawn_command)'
complete -c bawn -n '__bawn_verb_is diff' -a '(__bawn_sandboxes)'
complete -c bawn -n '__bawn_verb_is publish' -a '(__bawn_sandboxes)'
complete -c bawn -n '__bawn_verb_is apply' -a '(__bawn_sandboxes)'
complete -c bawn -n '__bawn_verb_is discard' -a '(__bawn_sandboxes)'
complete -c bawn -n '__bawn_verb_is show' -a '(__bawn_sandboxes)'
complete -c bawn -n '__bawn_verb_is logs' -a '(__bawn_sandboxes)'
complete -c bawn -n '__bawn_verb_is why' -a '(__bawn_sandboxes)'
complete -c bawn -n '__bawn_verb_is plan' -a '(__bawn_command)'
complete -c bawn -n '__bawn_verb_is completions' -a 'bash zsh fish'
complete -c bawn -n '__bawn_verb_is help' -a 'run shell diff publish apply discard list show logs why plan doctor completions help version'
complete -c bawn -n '__bawn_takes run shell diff publish apply discard list show logs why plan' -s w -l workspace -x -a '(__fish_complete_directories)' -d 'the work tree; default: the enclosing git work tree, else the current directory'
complete -c bawn -n '__bawn_takes run shell plan' -l ephemeral -d 'keep no changes: everything goes with the job (held in memory, or on disk with --disk)'
complete -c bawn -n '__bawn_takes run shell plan' -l keep -d 'leave the sandbox live after the job, for more jobs with --in'
complete -c bawn -n '__bawn_takes run shell plan' -l keep-for -x -d 'like --keep, for this long without a job (default of --keep: 10m)'
complete -c bawn -n '__bawn_takes run shell plan' -l in -x -a '(__bawn_sandboxes)' -d 'continue a kept sandbox: its id, its name, or @last'
complete -c bawn -n '__bawn_takes run shell plan' -l name -x -d 'the new sandbox\'s readable name (default: a random one)'
complete -c bawn -n '__bawn_takes run shell plan' -l level -x -a 'none restricted isolated bounded guest' -d 'run at exactly this level, or fail (default: the highest proven of isolated and bounded)'
complete -c bawn -n '__bawn_takes run shell plan' -l profile -x -a 'default browser debug' -d 'the profile: default, browser, debug, or one of yours'
complete -c bawn -n '__bawn_takes run shell plan' -l ro -r -F -d 'show this path, read-only'
complete -c bawn -n '__bawn_takes run shell plan' -l rw -r -F -d 'let the job write to this path directly; no review, no undo'
complete -c bawn -n '__bawn_takes run shell plan' -l hide -r -F -d 'cover this path'
complete -c bawn -n '__bawn_takes run shell plan' -l show -r -F -d 'show this protected path of the work tree'
complete -c bawn -n '__bawn_takes run shell plan' -l env -x -a '(set -xn)' -d 'set this environment variable'
complete -c bawn -n '__bawn_takes run shell plan' -l pass-env -x -a '(set -xn)' -d 'pass this environment variable as it is'
complete -c bawn -n '__bawn_takes run shell plan' -l secret -x -a '(set -xn)' -d 'give the value of this environment variable by a file in a private tmpfs'
complete -c bawn -n '__bawn_takes run shell plan' -l memory -x -d 'memory of the whole sandbox'
complete -c bawn -n '__bawn_takes run shell plan' -l cpu -x -d 'processors, for example 1.5'
complete -c bawn -n '__bawn_takes run shell plan' -l pids -x -d 'processes and threads'
complete -c bawn -n '__bawn_takes run shell plan' -l disk -x -d 'bytes of changes'
complete -c bawn -n '__bawn_takes run shell plan' -l inodes -x -d 'files of changes'
complete -c bawn -n '__bawn_takes run shell plan' -l output -x -d 'output to keep, head and tail (default: 64M)'
complete -c bawn -n '__bawn_takes run shell plan' -l timeout -x -d 'end the job after this time'
complete -c bawn -n '__bawn_takes run shell plan' -l idle-timeout -x -d 'end the job after this time without output'
complete -c bawn -n '__bawn_takes run shell plan' -l best-effort -x -a 'memory cpu pids disk inodes' -d 'run although these limits cannot be held for the whole tree'
complete -c bawn -n '__bawn_takes run shell' -l receipt -r -F -d 'also write the receipt to this file'
complete -c bawn -n '__bawn_takes run shell' -l status-fd -x -d 'write what happens to this descriptor, one JSON object a line'
complete -c bawn -n '__bawn_takes run shell' -s q -l quiet -d 'no notices; errors are still said'
complete -c bawn -n '__bawn_takes run shell' -l no-log -d 'keep no output'
complete -c bawn -n '__bawn_takes run shell' -s t -l tty -d 'give the job a terminal (default: when stdin, stdout and stderr are one)'
complete -c bawn -n '__bawn_takes run shell' -s T -l no-tty -d 'give the job pipes, whatever they are here'
complete -c bawn -n '__bawn_takes diff' -l stat -d 'one line per path, with counts'
complete -c bawn -n '__bawn_takes diff' -l names -d 'only the names of changed paths'
complete -c bawn -n '__bawn_takes diff' -s z -l null -d 'with --names: end each with a zero byte, unescaped'
complete -c bawn -n '__bawn_takes diff' -l digest -d 'only the digest of the changes'
complete -c bawn -n '__bawn_takes diff' -l ignored -d 'show changed files that git ignores, too'
complete -c bawn -n '__bawn_takes diff' -l exit-code -d 'exit 1 when there are changes'
complete -c bawn -n '__bawn_takes publish' -s b -l branch -x -d 'the branch to publish to (default: bawn/NAME)'
complete -c bawn -n '__bawn_takes publish' -s m -l message -x -d 'the commit message'
complete -c bawn -n '__bawn_takes diff publish apply' -l path -r -F -d 'only what changed at or below this path of the work tree'
complete -c bawn -n '__bawn_takes publish apply' -l reviewed -x -d 'act only if the changes still have this digest (of `bawn diff --digest`)'
complete -c bawn -n '__bawn_takes publish apply' -l unreviewed -d 'act although nobody has reviewed the changes; the result says so'
complete -c bawn -n '__bawn_takes publish apply' -l yes-path -r -F -d 'yes to this path, which runs by itself on your machine or needs a yes for another reason'
complete -c bawn -n '__bawn_takes publish apply' -l merge -d 'merge with what you changed in the same files since; conflicts are left alone by name'
complete -c bawn -n '__bawn_takes publish' -l squash -d 'one commit of what the tree holds now; commits made inside stay there'
complete -c bawn -n '__bawn_takes publish' -l include-dirty -d 'also commit your own uncommitted changes that the job built on'
complete -c bawn -n '__bawn_takes publish' -l lfs -d 'store files of Git LFS as it would: a pointer, and the content in the repository\'s LFS store'
complete -c bawn -n '__bawn_takes publish' -l update-tree -d 'publish to the branch checked out here and move the work tree with it'
complete -c bawn -n '__bawn_takes apply' -l undo -d 'put back what the last apply replaced'
complete -c bawn -n '__bawn_takes discard list' -s a -l all -d 'discard: every sandbox that is not live; list: every sandbox; of all work trees'
complete -c bawn -n '__bawn_takes discard' -l older -x -d 'every sandbox older than this that is not live, of all work trees'
complete -c bawn -n '__bawn_takes discard' -s y -l yes -d 'do not ask'
complete -c bawn -n '__bawn_takes logs' -l stdout -d 'only standard output'
complete -c bawn -n '__bawn_takes logs' -l stderr -d 'only standard error'
complete -c bawn -n '__bawn_takes help' -l man -d 'the manual page, as roff'
complete -c bawn -n '__bawn_takes diff publish apply discard list show why plan doctor help' -l json -d 'print JSON'
complete -c bawn -n '__bawn_takes run shell diff publish apply discard list show logs why plan doctor completions help version' -s h -l help -d 'explain this command'
