import { didYouMean } from '../core/did-you-mean.ts'
import { toggle } from '../emulator/option.ts'
import { command } from '../terminal/command.ts'
import { PRINT_OPTIONS, START_OPTIONS, UsageError } from '../terminal/options.ts'
import { prettyLines, show } from '../terminal/print.ts'
import {
  CERTIFY_OPTIONS,
  DRIFT_OPTIONS,
  DRIFT_RECORD_OPTIONS,
  HUNT_OPTIONS,
  IMPORT_OPTIONS,
  MCP_OPTIONS,
  REPLAY_OPTIONS,
} from '../tools/options.ts'
import { DOCTOR_OPTIONS, EXEC_OPTIONS, INIT_OPTIONS, VALIDATE_OPTIONS } from './local-options.ts'

/** The argument of a command that runs another one. */
const otherCommand = (name: string, example: string, argument = '<command...>') => ({
  args: {
    [argument]: `the program to run and its arguments, after --, without a shell: workspace-emulator ${name} -- ${example}`,
  },
  usage: '[flags] -- <command> [arguments...]',
})

/** The commands that need no running emulator. Their code is loaded when they run. */
export const localCommands = [
  command({
    name: 'start',
    description: 'Start the emulator (the default command)',
    options: {
      ...START_OPTIONS,
      detach: toggle('continue in the background when the emulator is ready; the command stop ends it'),
    },
    run: async (invocation) =>
      invocation.options.detach
        ? (await import('./detach.ts')).startDetached(invocation)
        : (await import('./start.ts')).start(invocation),
  }),
  command({
    name: 'exec',
    description:
      'Run the command after -- with its own emulator (WORKSPACE_BASE_URL, WORKSPACE_API_KEY), and end with the exit code of the command',
    ...otherCommand('exec', 'npm test'),
    options: EXEC_OPTIONS,
    run: async (invocation) => (await import('./exec.ts')).exec(invocation),
  }),
  command({
    name: 'certify',
    description:
      'Run the client after -- once for each case of a fixed list, in which its requests fail in one way, and judge how it behaved: exit code 1 for a failed case, 2 if cases were not reached',
    ...otherCommand('certify', 'node client.mjs', '[command...]'),
    options: CERTIFY_OPTIONS,
    run: async (invocation) => (await import('../tools/certify/certify.ts')).certify(invocation),
  }),
  command({
    name: 'hunt',
    description:
      'Search for failures that the tests after -- do not expect: run them under every single fault, then under two at a time; exit code 1 for a finding that is worse than a clear error, 3 if the most dangerous faults were not all run',
    ...otherCommand('hunt', 'npm test'),
    options: HUNT_OPTIONS,
    run: async (invocation) => (await import('../tools/hunt/hunt.ts')).hunt(invocation),
  }),
  command({
    name: 'replay',
    description:
      'Repeat a recording without its client, and compare every output byte by byte: exit code 1 when one differs',
    args: { '<file>': 'as record writes it' },
    options: REPLAY_OPTIONS,
    run: async (invocation) => (await import('../tools/replay/command.ts')).replayFile(invocation),
  }),
  command({
    name: 'init',
    description:
      'Write fixtures, a scenario, a test, a compose file and a CI job into the current directory; existing files are left as they are',
    options: INIT_OPTIONS,
    run: async (invocation) => (await import('./init/init.ts')).init(invocation),
  }),
  command({
    name: 'mcp',
    description:
      'Serve tools for coding agents on stdin and stdout, by the Model Context Protocol; without --url it starts an emulator if none runs',
    options: MCP_OPTIONS,
    run: async (invocation) => (await import('../tools/mcp/mcp.ts')).mcp(invocation),
  }),
  command({
    name: 'validate',
    description:
      'Check fixtures, settings, scenarios, endpoints, fault rules and state documents; without files, those that start would use',
    args: { '[files...]': 'JSON files, recognised by their fields; scripts and directories of scenarios' },
    options: VALIDATE_OPTIONS,
    run: async (invocation) => (await import('./validate.ts')).validate(invocation),
  }),
  command({
    name: 'import',
    description:
      'Turn HAR files of traffic with the real service into fixtures: records in their newest recorded state, with other texts in the place of names',
    args: { '<files...>': 'HAR files of a browser, Playwright or a proxy, with the bodies of responses' },
    options: IMPORT_OPTIONS,
    run: async (invocation) => (await import('../tools/import/command.ts')).importFiles(invocation),
  }),
  command({
    name: 'doctor',
    description: 'Check that an emulator can start here: exit code 1 when a check fails',
    options: DOCTOR_OPTIONS,
    run: async (invocation) => (await import('./doctor.ts')).doctor(invocation),
  }),
  command({
    name: 'openapi',
    description: 'Print the OpenAPI document of the emulated API under the default settings',
    options: PRINT_OPTIONS,
    run: async (invocation) => {
      const document = (await import('../emulator/documents.ts')).openApiDocument()
      return show(invocation, document, prettyLines(document))
    },
  }),
  command({
    name: 'schema',
    description: 'Print the JSON Schema of a kind of JSON files, or list the kinds',
    args: { '[name]': 'such as fixtures' },
    options: PRINT_OPTIONS,
    run: async (invocation) => {
      const { fileSchemas } = await import('../emulator/documents.ts')
      const [name] = invocation.args
      const names = Object.keys(fileSchemas)
      if (name === undefined) return show(invocation, { schemas: names }, names)
      if (!Object.hasOwn(fileSchemas, name)) {
        const hint = didYouMean(name, names) || ` Give one of ${names.join(', ')}.`
        throw new UsageError([`<name>: there is no schema "${name}".${hint}`])
      }
      const document = fileSchemas[name as keyof typeof fileSchemas]()
      return show(invocation, document, prettyLines(document))
    },
  }),
  command({
    name: 'drift',
    description:
      'Repeat recordings of traffic with the real service, and say whose fault each difference is: exit code 1 for a difference, 3 if less than half of the exchanges could be compared',
    args: { '<paths...>': 'HAR files, or directories of them' },
    options: DRIFT_OPTIONS,
    run: async (invocation) => (await import('../tools/drift/command.ts')).drift(invocation),
  }),
  command({
    name: 'drift record',
    description:
      'Run the command after -- with a proxy to the real service (WORKSPACE_BASE_URL), which records its requests and puts in the key, and end with the exit code of the command',
    ...otherCommand('drift record', 'node read.mjs'),
    options: DRIFT_RECORD_OPTIONS,
    run: async (invocation) => (await import('../tools/drift/record.ts')).recordDrift(invocation),
  }),
]
