# bash completion for bawn, made by `bawn completions bash`

_bawn_sandboxes() {
  bawn list --json 2>/dev/null | sed -n 's/.*"name": "\([a-z0-9_-]*\)".*/\1/p'
}

# _bawn_reply COMPGEN-ARGUMENT...: names with blanks stay whole.
_bawn_reply() {
  case $1 in -f | -d) compopt -o filenames 2>/dev/null ;; esac
  mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
}

# The value of option $1 in $cur; fails when $1 takes none.
_bawn_value() {
  case $1 in
    -w|--workspace) _bawn_reply -d ;;
    --keep-for) COMPREPLY=() ;;
    --in) _bawn_reply -W "$(_bawn_sandboxes)" ;;
    --name) COMPREPLY=() ;;
    --level) _bawn_reply -W "none restricted isolated bounded guest" ;;
    --profile) _bawn_reply -W "default browser debug" ;;
    --ro) _bawn_reply -f ;;
    --rw) _bawn_reply -f ;;
    --hide) _bawn_reply -f ;;
    --show) _bawn_reply -f ;;
    --env) _bawn_reply -e ;;
    --pass-env) _bawn_reply -e ;;
    --secret) _bawn_reply -e ;;
    --memory) COMPREPLY=() ;;
    --cpu) COMPREPLY=() ;;
    --pids) COMPREPLY=() ;;
    --disk) COMPREPLY=() ;;
    --inodes) COMPREPLY=() ;;
    --output) COMPREPLY=() ;;
    --timeout) COMPREPLY=() ;;
    --idle-timeout) COMPREPLY=() ;;
    --best-effort) _bawn_reply -W "memory cpu pids disk inodes" ;;
    --receipt) _bawn_reply -f ;;
    --status-fd) COMPREPLY=() ;;
    -b|--branch) COMPREPLY=() ;;
    -m|--message) COMPREPLY=() ;;
    --path) _bawn_reply -f ;;
    --reviewed) COMPREPLY=() ;;
    --yes-path) _bawn_reply -f ;;
    --older) COMPREPLY=() ;;
    *) return 1 ;;
  esac
}

# Sets `start` to the index of the first word of the job's command; empty when there is none yet.
_bawn_command_start() {
  local i=2 word
  start=
  while ((i < COMP_CWORD)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      start=$((i + 1))
      return
    elif [[ $word != -* ]]; then
      start=$i
      return
    elif [[ ${COMP_WORDS[i + 1]} == = ]]; then
      i=$((i + 3))
    elif [[ $word != *=* ]] && _bawn_value "$word"; then
      i=$((i + 2))
    else
      i=$((i + 1))
    fi
  done
  if ((i == COMP_CWORD)) && [[ $cur != -* ]]; then start=$i; fi
}

_bawn() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options start
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _bawn_reply -W 'run shell diff publish apply discard list show logs why plan doctor completions help version --help --version'
    return
  fi
  case ${COMP_WORDS[1]} in
    run | plan)
      _bawn_command_start
      if [[ -n $start ]]; then
        COMPREPLY=()
        if declare -F _command_offset >/dev/null; then
          _command_offset "$start"
        elif ((start == COMP_CWORD)); then
          _bawn_reply -c
        else
          _bawn_reply -f
        fi
        return
      fi
      ;;
  esac
  if [[ $cur == = ]]; then
    cur=
    _bawn_value "$prev" && return
  elif [[ $prev == = ]]; then
    _bawn_value "${COMP_WORDS[COMP_CWORD - 2]}" && return
  elif [[ $prev == -* ]]; then
    _bawn_value "$prev" && return
  fi
  case ${COMP_WORDS[1]} in
    run) options='-w --workspace --ephemeral --keep --keep-for --in --name --level --profile --ro --rw --hide --show --env --pass-env --secret --memory --cpu --pids --disk --inodes --output --timeout --idle-timeout --best-effort --receipt --status-fd -q --quiet --no-log -t --tty -T --no-tty -h --help' ;;
    shell) options='-w --workspace --ephemeral --keep --keep-for --in --name --level --profile --ro --rw --hide --show --env --pass-env --secret --memory --cpu --pids --disk --inodes --output --timeout --idle-timeout --best-effort --receipt --status-fd -q --quiet --no-log -t --tty -T --no-tty -h --help' ;;
    diff) options='-w --workspace --stat --names -z --null --digest --ignored --exit-code --path --json -h --help' ;;
    publish) options='-w --workspace -b --branch -m --message --path --reviewed --unreviewed --yes-path --merge --squash --include-dirty --lfs --update-tree --json -h --help' ;;
    apply) options='-w --workspace --path --reviewed --unreviewed --yes-path --merge --undo --json -h --help' ;;
    discard) options='-w --workspace -a --all --older -y --yes --json -h --help' ;;
    list) options='-w --workspace -a --all --json -h --help' ;;
    show) options='-w --workspace --json -h --help' ;;
    logs) options='-w --workspace --stdout --stderr -h --help' ;;
    why) options='-w --workspace --json -h --help' ;;
    plan) options='-w --workspace --ephemeral --keep --keep-for --in --name --level --profile --ro --rw --hide --show --env --pass-env --secret --memory --cpu --pids --disk --inodes --output --timeout --idle-timeout --best-effort --json -h --help' ;;
    doctor) options='--json -h --help' ;;
    completions) options='-h --help' ;;
    help) options='--man --json -h --help' ;;
    version) options='-h --help' ;;
    *) return ;;
  esac
  if [[ $cur == -* ]]; then
    _bawn_reply -W "$options"
    return
  fi
  case ${COMP_WORDS[1]} in
    diff) _bawn_reply -W "$(_bawn_sandboxes) @last" ;;
    publish) _bawn_reply -W "$(_bawn_sandboxes) @last" ;;
    apply) _bawn_reply -W "$(_bawn_sandboxes) @last" ;;
    discard) _bawn_reply -W "$(_bawn_sandboxes) @last" ;;
    show) _bawn_reply -W "$(_bawn_sandboxes) @last" ;;
    logs) _bawn_reply -W "$(_bawn_sandboxes) @last" ;;
    why) _bawn_reply -W "$(_bawn_sandboxes) @last" ;;
    completions) _bawn_reply -W 'bash zsh fish' ;;
    help) _bawn_reply -W 'run shell diff publish apply discard list show logs why plan doctor completions help version' ;;
  esac
}

complete -F _bawn bawn
