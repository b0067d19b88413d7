import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/index.ts'
import { script, writeFiles } from '../support/scenario-folder.ts'
import { command, type ReadyLine, startedEmulator, temporaryDirectory, withError } from './in-process.ts'
import { spawnEmulator } from './process.ts'

interface Started {
  readonly ready: ReadyLine
  stop(): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>
}

async function withScenarios<S extends Started>(
  files: Readonly<Record<string, string>>,
  start: (argv: readonly string[]) => Promise<S>,
) {
  const folder = temporaryDirectory()
  writeFiles(folder, files)
  const argv = ['--ephemeral', '--rate', '0', '--clock', '2026-03-01', '--scenarios', folder]
  const running = await start(argv)
  const { base_url, control_url } = running.ready
  const { scenarios, clock } = connect(new URL(base_url).origin).defaultSandbox
  /** Starts a scenario and runs its step. @returns the errors */
  const step = async (name: string) => {
    await scenarios.start(name)
    return (await clock.advance('1m')).failed.map(({ error }) => error)
  }
  /** That API, dashboard and control interface respond, and SIGTERM ends it. @returns all that it has printed */
  const stillServes = async () => {
    const headers = { authorization: 'Bearer live_demo_owner' }
    const urls = [`${base_url}/data-views`, `${control_url}/ui/`, `${control_url}/scenarios`]
    const statuses = await Promise.all(urls.map(async (url) => (await fetch(url, { headers })).status))
    expect(statuses).toEqual([200, 200, 200])
    const ended = await running.stop()
    expect(ended.code).toBe(0)
    return ended
  }
  return { ...running, folder, step, stillServes }
}

const step = (body: string) => script(`{ timeline: [{ at: '1m', do: ${body} }] }`)

test('console.log and process.exit in a script leave the emulator running', async () => {
  const emulator = await withScenarios(
    {
      'prints.ts': step("() => console.log('from the script')"),
      'exits.ts': step('() => {\n  process.exit(3)\n}'),
    },
    spawnEmulator,
  )
  expect(await emulator.step('prints')).toEqual([])
  expect(await emulator.step('exits')).toEqual([
    `${join(emulator.folder, 'exits.ts')}:3:11: process.exit would end the emulator, and was not run. Return from the function instead.`,
  ])
  const { out } = await emulator.stillServes()
  expect(out.split('\n')[1]).toBe('from the script')
})

test('an error that a script throws later is printed with its file, and the emulator goes on', async () => {
  const late = {
    'timer.ts': step("() => {\n  setTimeout(() => {\n    throw new Error('in a timer')\n  }, 1)\n}"),
    'rejects.ts': step("() => {\n  void Promise.reject(new Error('in a promise'))\n}"),
    'odd.ts': step("() => {\n  void Promise.reject('no error')\n}"),
    'logs.ts': step("({ sandbox }) => {\n  setTimeout(() => sandbox.log('too late'), 1)\n}"),
    'fetches.ts': step("() => {\n  void fetch('http://127.0.0.1:1/')\n}"),
    'loads.ts': "setTimeout(() => {\n  throw new Error('after the load')\n}, 1)\nexport default {}\n",
  }
  const emulator = await withScenarios(late, spawnEmulator)
  const printed = (text: string) =>
    emulator.errorOutput(new RegExp(`^${text} \\(a scenario script threw this outside of any call`, 'm'))
  for (const name of ['timer', 'rejects', 'odd', 'logs', 'fetches']) {
    expect(await emulator.step(name)).toEqual([])
  }
  const file = (name: string) => join(emulator.folder, name)
  await printed(`${file('timer.ts')}:4:11: in a timer`)
  await printed(`${file('rejects.ts')}:3:23: in a promise`)
  await printed(`${file('logs.ts')}:3:28: The function has already returned, .*`)
  await printed(`${file('loads.ts')}:2:9: after the load`)
  // Without a stack that leads to a script every script is named.
  const all = Object.keys(late).map(file).sort()
  const [said] = await printed(".* or .*: threw 'no error', which is not an Error")
  for (const each of all) expect(said).toContain(each)
  await printed('.* or .*: TypeError: fetch failed')
  await emulator.stillServes()
})

test('a FIFO or a device is named and skipped by validate, and refused as the fixtures of a start', async () => {
  const folder = temporaryDirectory()
  const [pipe, zero] = [join(folder, 'pipe.json'), join(folder, 'zero.json')]
  execFileSync('mkfifo', [pipe])
  symlinkSync('/dev/zero', zero)
  writeFiles(folder, { 'good.json': '{"collections": {}}' })
  const { out } = await command(['validate', pipe, zero, join(folder, 'good.json')])
  expect(out).toContain(`${pipe}: is a FIFO; only regular files are read\n${zero}: is a device; only regular`)
  expect(out).toContain(`${join(folder, 'good.json')}: ok (fixtures)`)
  const started = await command(['start', '--ephemeral', '--port', '0', '--fixtures', pipe])
  expect(started).toEqual(withError(1, `${pipe}: is a FIFO`))
})

test('a breakpoint in a TypeScript scenario, or in what it imports, is reached at its own line', async () => {
  const emulator = await withScenarios(
    {
      'stops.ts': script(
        `{
  timeline: [
    {
      at: '1m',
      do: ({ sandbox }: { sandbox: { log(text: string): void } }) => {
        const text: string = greeting('breakpoint')
        sandbox.log(text)
      },
    },
  ],
}`,
        "import { greeting } from './_greeting.ts'\n",
      ),
      '_greeting.ts':
        "type Name = string\n\nexport const greeting = (name: Name): string => {\n  const text = 'hello ' + name\n  return text\n}\n",
    },
    startedEmulator,
  )
  const session = new Session()
  session.connect()
  onTestFinished(() => session.disconnect())
  await session.post('Debugger.enable')
  const reached: string[] = []
  Object.assign(globalThis, { reached })
  onTestFinished(() => void Reflect.deleteProperty(globalThis, 'reached'))
  for (const [name, lineNumber] of [
    ['_greeting.ts', 4],
    ['stops.ts', 8],
  ] as const) {
    const url = pathToFileURL(join(emulator.folder, name)).href
    // A condition that is false is evaluated in the frame, and does not stop this process.
    const condition = `reached.push('${name}: ' + text) === 0`
    await session.post('Debugger.setBreakpointByUrl', { url, lineNumber, condition })
  }
  expect(await emulator.step('stops')).toEqual([])
  expect(reached).toEqual(['_greeting.ts: hello breakpoint', 'stops.ts: hello breakpoint'])
})
