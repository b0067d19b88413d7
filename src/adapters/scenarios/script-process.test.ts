import { type ChildProcess, spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { dataFolder } from '../../../test/support/data-folder.ts'
import {
  openLibrary,
  script,
  snapshotOf,
  vocabulary,
  writeFiles,
} from '../../../test/support/scenario-folder.ts'
import { loadOnce } from './load.ts'

/** Loads one script, prints its data, and closes nothing. */
const PROGRAM = `
import { ScriptGeneration, SCRIPT_LIMITS } from '${resolve('src/adapters/scenarios/generation.ts')}'
const folder = process.argv[2]
const scripts = new ScriptGeneration({ folder, limits: SCRIPT_LIMITS, print: async () => '', onLine: () => {}, onLeftover: () => {} })
console.log(JSON.stringify(await scripts.load(folder + '/one.ts')))
`

let server: Server

beforeAll(async () => {
  server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterAll(() => void server.close())

/** Code of a script that keeps a connection to this test, which closes with its process. */
const connected = () => `import { connect } from 'node:net'
const { port } = ${JSON.stringify(server.address())}
const socket = connect(port, '127.0.0.1')
await new Promise((resolve) => socket.once('connect', resolve))
`

/** Runs the program on a folder with one script. */
function start(one: string, env = {}): ChildProcess {
  const folder = dataFolder()
  writeFiles(folder, { 'one.ts': one, '../program.ts': PROGRAM })
  const loader = resolve('node_modules/jiti/lib/jiti-cli.mjs')
  const child = spawn(process.execPath, [loader, resolve(folder, '../program.ts'), folder], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function nextConnection(): Promise<{ closed: Promise<unknown> }> {
  const [socket] = (await once(server, 'connection')) as [Socket]
  // A killed process may reset the connection.
  const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))
  socket.resume()
  return { closed }
}

test('the process ends with the emulator, even if that is killed while a script loops', async () => {
  const connection = nextConnection()
  const emulator = start(`${connected()}for (;;) {}\n`)
  const { closed } = await connection
  emulator.kill('SIGKILL')
  await closed
})

test('the process does not keep the emulator alive, and ends with it', async () => {
  const connection = nextConnection()
  const emulator = start(`${connected()}export default {}\n`)
  const { closed } = await connection
  expect(await once(emulator, 'exit')).toEqual([0, null])
  await closed
})

test('scripts get the environment of the emulator, without the flags of its Node', async () => {
  const folder = dataFolder()
  writeFiles(folder, { 'flag.cjs': 'globalThis.flagged = true' })
  const seen = '[process.env.FOR_SCRIPTS, process.env.NODE_OPTIONS, process.execArgv, globalThis.flagged]'
  const emulator = start(script(`{ description: JSON.stringify(${seen}) }`), {
    FOR_SCRIPTS: 'yes',
    NODE_OPTIONS: `--require ${folder}/flag.cjs`,
  })
  const said = JSON.parse(await text(emulator.stdout as NodeJS.ReadableStream))
  expect(JSON.parse(JSON.parse(said.text).description)).toEqual([
    'yes',
    null,
    ['--max-old-space-size=256'],
    null,
  ])
})

test('signals that a terminal sends to all processes do not end the scripts', async () => {
  const folder = dataFolder()
  const step = `async ({ sandbox }) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      const heard = new Promise((resolve) => process.once(signal, resolve))
      process.kill(process.pid, signal)
      await heard
    }
    sandbox.log('still here')
  }`
  writeFiles(folder, { 'signals.ts': script(`{ timeline: [{ at: '1m', do: ${step} }] }`) })
  const { library } = await openLibrary(folder)
  onTestFinished(() => library.close())
  expect(await library.call('signals', { timeline: 0 }, snapshotOf())).toEqual([
    { kind: 'log', text: 'still here' },
  ])
})

test('each reload ends the previous process', async () => {
  const folder = dataFolder()
  const write = (version: number) =>
    writeFiles(folder, {
      'a.ts': `${connected()}export default { description: '${version}', on: { 'batch.failed': () => {} } }\n`,
    })
  write(0)
  let connection = nextConnection()
  const { library } = await openLibrary(folder)
  onTestFinished(() => library.close())
  for (const version of [1, 2, 3]) {
    const before = await connection
    connection = nextConnection()
    write(version)
    await library.refresh()
    expect(library.get('a')?.description).toBe(String(version))
    await before.closed
  }
  await library.close()
  await (await connection).closed
})

test('a folder with scripts starts one process for all of them', async () => {
  let started = 0
  const count = () => {
    started += 1
  }
  subscribe('child_process', count)
  onTestFinished(() => void unsubscribe('child_process', count))
  const folder = dataFolder()
  writeFiles(folder, { 'data.json': '{"description": "data"}' })
  expect([(await loadOnce(folder, vocabulary)).length, started]).toEqual([1, 0])
  writeFiles(folder, { 'one.ts': script('{}'), 'two.ts': script('{}') })
  expect([(await loadOnce(folder, vocabulary)).length, started]).toEqual([3, 1])
})
