import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run as runCommand } from '../../../src/cli/command-line.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import type { RunningEmulator } from '../../../src/emulator/emulator.ts'
import { loggerTo } from '../../../src/terminal/logger.ts'
import { baseCollections } from '../../support/base-state.ts'
import { aBatch } from '../../support/batches.ts'
import { send } from '../../support/send.ts'
import { atLeast, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { against, withFolder } from './emulator.ts'

const CORPUS = [
  '\u001b[31mred\u001b[0m',
  '\u001b]0;title\u0007',
  '\u001b[2J\u001b[H',
  '\u001b]8;;http://example.com\u001b\\link\u001b]8;;\u001b\\',
  '\u009b31mred',
  '\u007f\b\b\b',
  'over\rwritten',
  'two\nlines',
  '\u202eright to left\u202c',
  '\u0000',
] as const

// Control characters that must not reach a terminal; only the line feed is allowed, as it separates lines.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

const AGENT = { id: 'agent-1', _emulator: { teamspace_id: 'ts-a' } }
const SANDBOX = {
  settings: { 'batch.unknown_files': 'accept' },
  fixtures: { collections: { ...baseCollections, agents: [AGENT] } } as unknown as JsonObject,
}

// These characters cannot be in a file name.
const fileName = (text: string) => text.replaceAll('/', '').replaceAll('\u0000', '')

/** Writes the corpus to every place that stores or repeats text of a caller. */
async function plant(emulator: RunningEmulator): Promise<void> {
  const api = (method: string, path: string, json?: unknown) =>
    send({ emulator }, method, `/v1${path}`, { json })
  const control = (method: string, path: string, json?: unknown) =>
    send({ emulator }, method, `/__emulator${path}`, { json, authorization: undefined })
  const items = CORPUS.map((text) => ({ file_id: 'file-1', custom_id: text }))
  const batch = aBatch({ prompt: CORPUS.join(), items })
  const { body } = await api('POST', '/batch-predictions', batch)
  await control('POST', `/batches/${body.id}/complete`)
  for (const text of CORPUS) {
    const inUrl = encodeURIComponent(text)
    await api('POST', '/pages', { name: text, [text]: text })
    await api('POST', '/agents/agent-1/automations', { [text]: text, name: text })
    await api('POST', '/batch-predictions', { ...batch, metadata: { [text]: text } })
    await api('GET', `/${inUrl}?${inUrl}=${inUrl}`)
    await control('PATCH', '/settings', { [text]: text })
    const rule = { description: text, match: { headers: { 'x-test': text } }, when: { nth: 9 } }
    await control('POST', '/faults', { ...rule, do: [{ respond: { status: 500 } }] })
  }
  await control('POST', '/snapshots', { name: 'kept' })
  await control('POST', '/scenarios/says/start')
  await control('POST', '/clock/advance', { by: '2s' })
}

/** Creates a folder of scenarios whose names, descriptions and errors come from the corpus. */
function scenarios(folder: string): string {
  const scripts = join(folder, 'scripts')
  mkdirSync(scripts)
  const write = (file: string, content: string) => writeFileSync(join(scripts, file), content)
  for (const [index, text] of CORPUS.entries()) {
    write(`${fileName(text)} ${index}.json`, JSON.stringify({ description: text, [text]: text }))
    write(`broken-${index}.mjs`, `throw new Error(${JSON.stringify(text)})\n`)
  }
  const all = JSON.stringify(CORPUS)
  const script = `export default { description: 'Says it all', timeline: [{ at: '1s', do: ({ sandbox }) => {
    for (const text of ${all}) sandbox.log(text)
    throw new Error(${all}.join())
  } }] }\n`
  write('says.mjs', script)
  return scripts
}

/** The commands that print text of other callers, and commands that get such text as arguments. */
function commands({ port, sandbox }: RunningEmulator, folder: string, scale: Scale): string[][] {
  const at = ['--url', `http://127.0.0.1:${port}`]
  // The long scale explains every request, the short one every tenth.
  const ids = sandbox.log.entries().map(({ id }) => id)
  const explained = ids.filter((_, n) => scale === 'long' || n % 10 === 0)
  const shown = [
    ...['requests', 'call GET snapshots/kept', 'faults list', 'faults list --json', 'scenario list'],
    ...['snapshot list', 'sandbox list', 'status', 'clock'],
  ]
  const given = ['explain', 'snapshot save', 'scenario start', 'faults add', 'clock advance']
  const own = CORPUS.filter((each) => each !== '\u0000').flatMap((text) => [
    ...given.map((words) => [...words.split(' '), text, ...at]),
    [text],
    ['status', `--${text}`],
    ['status', '--url', text],
  ])
  const files = CORPUS.map((text, index) => {
    const file = join(folder, `${fileName(text)}-${index}.json`)
    writeFileSync(file, JSON.stringify({ [text]: text, collections: { [text]: [] } }))
    return ['validate', file]
  })
  return [
    ...shown.map((words) => [...words.split(' '), ...at]),
    ...explained.map((id) => ['explain', id, ...at]),
    ...own,
    ...files,
  ]
}

async function run(scale: Scale): Promise<readonly Figure[]> {
  const printed: string[] = []
  const logged: string[] = []
  const write = (line: string) => void logged.push(line)
  const logger = loggerTo({ level: 'debug', format: 'pretty', colours: false, write })
  const print = (text: string) => void printed.push(text)
  const count = await withFolder((folder) => {
    const data = join(folder, 'data')
    return against(
      { data, scenarios: scenarios(folder), limits: false, logger, ...SANDBOX },
      async ({ emulator }) => {
        await plant(emulator)
        const all = commands(emulator, folder, scale)
        for (const argv of all) await runCommand(argv, {}, { out: print, err: print, colours: false })
        return all.length
      },
    )
  })
  const bad = [...printed, ...logged.map((line) => line.trimEnd())].filter((text) => OBEYED.test(text))
  return [
    tried('commands', count),
    atLeast('lines logged', logged.length, CORPUS.length),
    none(`not shown as plain text${bad[0] === undefined ? '' : `: ${JSON.stringify(bad[0])}`}`, bad.length),
  ]
}

export const x5: Proof = {
  id: 'X5',
  promise: 'Text of a caller is always shown as plain text, in a terminal and in a log.',
  run,
}
