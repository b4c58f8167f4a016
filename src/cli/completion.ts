import { UsageError, type Command, type Flag } from './command.ts';
import { COMMANDS, RUN_COMMAND } from './commands.ts';

/** The completion script of a shell, made of the table of commands. */
export function completionFor(shell: string): string {
  const make = SHELLS[shell];
  if (make === undefined) throw new UsageError(`completion is made for ${Object.keys(SHELLS).join(', ')}, got "${shell}"`);
  return make();
}

const SHELLS: Readonly<Record<string, () => string>> = { bash, zsh, fish };

function bash(): string {
  const cases = COMMANDS.map((command) => `    ${command.name}) flags="${flagWords(command)}" ;;`).join('\n');
  const values = choices().map(
    ({ name, words }) => `    --${name}) COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$word")); return ;;`,
  );
  return `# Completion of foray for bash. Put it where bash looks, such as ~/.local/share/bash-completion/completions/foray
_foray() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" flags="${flagWords(RUN_COMMAND)}"
  case "$before" in
${values.join('\n')}
  esac
  case "\${COMP_WORDS[1]}" in
${cases}
  esac
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags --help" -- "$word"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "${names().join(' ')}" -- "$word") $(compgen -f -X '!*.md' -- "$word"))
  elif [[ "\${COMP_WORDS[1]}" == completion ]]; then
    COMPREPLY=($(compgen -W "${Object.keys(SHELLS).join(' ')}" -- "$word"))
  else
    COMPREPLY=($(compgen -f -X '!*.md' -- "$word"))
  fi
}
complete -o filenames -F _foray foray
`;
}

function zsh(): string {
  const described = COMMANDS.map(({ name, summary }) => `    '${name}:${zshText(summary)}'`).join('\n');
  const cases = COMMANDS.map(
    (command) => `    ${command.name}) _arguments ${command.flags.map(zshFlag).join(' ')} '*:workflow file:_files -g "*.md"' ;;`,
  );
  return `#compdef foray
# Completion of foray for zsh. Put it as _foray into a folder of $fpath.
_foray() {
  local -a commands
  commands=(
${described}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    _files -g '*.md'
    return
  fi
  local name="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$name" in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_foray" ]; then _foray "$@"; else compdef _foray foray; fi
`;
}

function fish(): string {
  const words = names().join(' ');
  const commands = COMMANDS.map(
    ({ name, summary }) =>
      `complete -c foray -n "not __fish_seen_subcommand_from ${words}" -f -a ${name} -d '${fishText(summary)}'`,
  );
  const flags = COMMANDS.flatMap((command) =>
    command.flags.map((flag) => `complete -c foray -n "__fish_seen_subcommand_from ${command.name}" ${fishFlag(flag)}`),
  );
  const shells = `complete -c foray -n "__fish_seen_subcommand_from completion" -f -a '${Object.keys(SHELLS).join(' ')}'`;
  return `# Completion of foray for fish. Put it into ~/.config/fish/completions/foray.fish\n${[...commands, ...flags, shells].join('\n')}\n`;
}

function names(): readonly string[] {
  return COMMANDS.map(({ name }) => name);
}

function flagWords(command: Command): string {
  return command.flags.map(({ name }) => `--${name}`).join(' ');
}

/** Flags whose values are known beforehand, once each. */
function choices(): readonly { readonly name: string; readonly words: readonly string[] }[] {
  const known = new Map<string, readonly string[]>();
  for (const { flags } of COMMANDS) for (const { name, choices: words } of flags) if (words) known.set(name, words);
  return [...known].map(([name, words]) => ({ name, words }));
}

function zshFlag({ name, value, choices: words, summary }: Flag): string {
  const argument = value === undefined ? '' : `:${value}:${words === undefined ? '' : `(${words.join(' ')})`}`;
  return `'--${name}[${zshText(summary)}]${argument}'`;
}

function zshText(text: string): string {
  return text.replace(/[[\]:']/g, ' ');
}

function fishFlag({ name, short, value, choices: words, summary }: Flag): string {
  const argument = value === undefined ? '' : ` -x${words === undefined ? '' : ` -a '${words.join(' ')}'`}`;
  return `-l ${name}${short === undefined ? '' : ` -s ${short}`}${argument} -d '${fishText(summary)}'`;
}

function fishText(text: string): string {
  return text.replaceAll("'", ' ');
}
