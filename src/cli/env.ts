import { writtenKeys } from '../adapters/fixtures.ts'
import { apiPath } from '../control-client/transport.ts'
import { knownKeys, readyKeys } from '../core/request/plain-keys.ts'
import { shellWord } from '../core/shell-word.ts'
import { choiceOption, option } from '../emulator/option.ts'
import { sandboxCommand } from '../terminal/call-command.ts'
import { CommandFailed } from '../terminal/command.ts'
import { emulatorOrigin, namedIn } from '../terminal/control-client.ts'
import { described, START_OPTIONS } from '../terminal/options.ts'
import { show } from '../terminal/print.ts'
import { environmentOf } from '../terminal/variables.ts'

/** How a variable is set, for each shell. */
const LINES = {
  bash: (name: string, value: string) => `export ${name}=${shellWord(value)}`,
  powershell: (name: string, value: string) => `$env:${name} = '${value.replaceAll("'", "''")}'`,
  dotenv: (name: string, value: string) =>
    `${name}=${/^[\w./:@+-]*$/.test(value) ? value : JSON.stringify(value)}`,
  github: (name: string, value: string) => `${name}=${value}`,
} as const

export const envCommand = sandboxCommand('env', {
  description:
    'Print the variables that clients of a running emulator read: eval "$(workspace-emulator env)"',
  options: {
    key: option(choiceOption('kind', ['user', 'service']), 'user', {
      description: 'kind of the key in WORKSPACE_API_KEY: user or service',
    }),
    shell: option(
      choiceOption('shell', ['bash', 'powershell', 'dotenv', 'github']),
      process.platform === 'win32' ? 'powershell' : 'bash',
      {
        shown: 'bash; powershell on Windows',
        description: 'form of the lines: bash, powershell, dotenv, or github for $GITHUB_ENV',
      },
    ),
    fixtures: described(
      START_OPTIONS.fixtures,
      'fixtures that the sandbox was started with, which have its keys',
    ),
  },
  run: async (ask, invocation) => {
    const { options } = invocation
    const { data } = await ask('GET /state/{collection}', { params: { collection: 'api_keys' } })
    const tokens = data.map((record) => (record as { token?: unknown }).token)
    const keys = readyKeys(knownKeys(await writtenKeys(options.fixtures), tokens))
    const baseUrl = emulatorOrigin(options) + apiPath(options.sandbox ?? namedIn(options))
    const api = keys[options.key]
    if (api === null)
      throw new CommandFailed(
        `No ${options.key} key of the sandbox is in the fixtures "${options.fixtures}". It stores only digests: name the fixtures that it was started with, as in --fixtures fixtures/workspace.json.`,
      )
    const variables = environmentOf({ baseUrl, keys, api, controlToken: options.controlToken })
    const lines = Object.entries(variables).map(([name, value]) => LINES[options.shell](name, value))
    return show(invocation, variables, lines)
  },
})
