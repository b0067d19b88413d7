import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type Lasting, lastingCommand, temporaryDirectory, temporaryFile } from './in-process.ts'
import { spawnCommand } from './process.ts'
import { atTerminal } from './terminal.ts'

interface CommandOutput {
  readonly pids: readonly number[]
  readonly url: string
}

const SAY = 'echo "{\\"pids\\": [$PIDS], \\"url\\": \\"$WORKSPACE_EMULATOR_URL\\"}"'

/** For commands that run below this process, whose stdout is that of the test run. */
const SAY_TO_PIPE = `${SAY} > $PIPE`

const SLEEPER = `sleep 600 & PIDS="$$, $!"; ${SAY}; wait`

function outputIn(line: string): CommandOutput {
  const output = JSON.parse(line) as CommandOutput
  onTestFinished(() => kill(output.pids))
  return output
}

async function firstLine(stream: Readable): Promise<CommandOutput> {
  const [line] = (await once(stream, 'data')) as [Buffer]
  return outputIn(line.toString())
}

/** Runs `exec` in this process with a shell script, which has a child process that sleeps for ten minutes. */
async function execScript(script: string): Promise<Lasting & { readonly said: CommandOutput }> {
  const pipe = join(temporaryDirectory(), 'pipe')
  execFileSync('mkfifo', [pipe])
  const said = firstLine(createReadStream(pipe))
  // What a shell says of killed children is no output of the test run.
  const whole = `exec 2>/dev/null; sleep 600 & PIDS="$$, $!"; ${script.replace('SAY', SAY_TO_PIPE)}`
  const env = { PATH: process.env.PATH ?? '', PIPE: pipe }
  const lasting = lastingCommand(['exec', '--', 'sh', '-c', whole], env)
  return { ...lasting, said: await said }
}

function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {}
  }
}

/**
 * Whether all processes of the command have ended and no server responds at the emulator's address. A process that was killed
 * may be listed for a moment.
 */
async function isGone({ pids, url }: CommandOutput): Promise<boolean> {
  const response = await fetch(`${url}/__emulator/health`).catch(() => undefined)
  return response === undefined && pids.every((pid) => !isRunning(pid))
}

function isRunning(pid: number): boolean {
  try {
    if (process.platform !== 'linux') return process.kill(pid, 0)
    // A process that has ended stays in the table (state Z or X) until its parent reads its exit code.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

test('exec leaves no process and no file, and leaves stdout to its command', async () => {
  const cwd = temporaryDirectory()
  const script = `PIDS=$$; ${SAY}; exit 3`
  const argv = [resolve('dist/cli.js'), 'exec', '--json', '--', 'sh', '-c', script]
  const child = spawn(process.execPath, argv, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = [text(child.stdout), text(child.stderr)]
  expect(await once(child, 'close')).toEqual([3, null])
  const [out = '', err = ''] = await Promise.all(texts)
  const summary = { exit_code: 3, command: ['sh', '-c', script], requests: 0 }
  expect(JSON.parse(err.trim().split('\n').at(-1) ?? '')).toMatchObject(summary)
  expect(await isGone(JSON.parse(out))).toBe(true)
  expect(readdirSync(cwd)).toEqual([])
})

test.for(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s is passed on to the command', async (name) => {
  const script = `trap 'kill $!; exit 9' ${name.slice(3)}; SAY; wait $!`
  const { signal, ended, said } = await execScript(script)
  expect((await fetch(`${said.url}/__emulator/ready`)).status).toBe(200)
  signal(name)
  expect((await ended).code).toBe(9)
  await expect.poll(() => isGone(said)).toBe(true)
})

test.for([
  ['get the signal too', "trap 'kill $!; echo heard > FILE; exit' TERM"],
  ['are killed one second later if they ignore the signal', "trap '' TERM; echo heard > FILE"],
] as const)('children that remain after the command ended by a signal %s', async ([, trap]) => {
  const file = join(temporaryDirectory(), 'heard')
  const below = `${trap.replace('FILE', file)}; sleep 600 & PIDS="$ABOVE, $$, $!"; ${SAY_TO_PIPE}; wait`
  const script = `ABOVE=$$ sh ${temporaryFile('below.sh', below)} & wait; true`
  const { stop, said } = await execScript(script)
  expect(said.pids).toHaveLength(3)
  expect((await stop()).code).toBe(143)
  expect(readFileSync(file, 'utf8')).toBe('heard\n')
  await expect.poll(() => isGone(said)).toBe(true)
})

test('a second signal kills a command that ignores the first, with all its children', async () => {
  const script = `trap '' TERM; ${SLEEPER}; wait`
  const { child, line, ended } = spawnCommand(['exec', '--', 'sh', '-c', script])
  const said = outputIn(await line)
  child.kill('SIGTERM')
  expect((await fetch(`${said.url}/__emulator/ready`)).status).toBe(200)
  expect(said.pids.map(isRunning)).toEqual([true, true])
  // A signal right after the first counts as the same signal, so it is sent repeatedly.
  for (let n = 0; n < 1_200 && child.exitCode === null; n++) {
    await wait(50)
    child.kill('SIGTERM')
  }
  expect((await ended).code).toBe(143)
  await expect.poll(() => isGone(said)).toBe(true)
})

test('two signals at the same time count as one: a command that ends in order is not killed', async () => {
  const script = "trap 'sleep 0.05; kill $!; exit 9' TERM INT; SAY; wait $!"
  const { signal, ended, said } = await execScript(script)
  signal('SIGTERM')
  signal('SIGINT')
  expect((await ended).code).toBe(9)
  await expect.poll(() => isGone(said)).toBe(true)
})

test('an internal error of the emulator ends it with one line, and the command too', async () => {
  const start =
    "require('./dist/main.js').main(); process.once('SIGUSR2', () => { throw new Error('boom\\nboom') })"
  const argv = ['-e', start, 'x', 'exec', '--', 'sh', temporaryFile('command.sh', SLEEPER)]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const err = text(child.stderr)
  const said = await firstLine(child.stdout)
  expect(said.pids.map(isRunning)).toEqual([true, true])
  child.kill('SIGUSR2')
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(await err).toMatch(/^workspace-emulator stops: Error: boom boom \(at .+\)\n$/)
  await expect.poll(() => isGone(said)).toBe(true)
})

test('exec ends when npm has ended, because the shell between them does not forward signals', async () => {
  const script = temporaryFile('command.sh', SLEEPER)
  const shell = spawn('sh', ['-c', `node dist/cli.js exec -- sh ${script}; true`], {
    env: { ...process.env, npm_lifecycle_event: 'test' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const said = await firstLine(shell.stdout)
  shell.kill('SIGTERM')
  await expect.poll(() => isGone(said)).toBe(true)
})

const CTRL_C = '\u0003'

test('at a terminal, the command of exec gets the keys of a watch mode', async () => {
  const script = temporaryFile(
    'watch.cjs',
    `process.stdin.setRawMode(true).on('data', (key) => process.exit(String(key) === 'q' ? 5 : 6))
     console.log('watching')`,
  )
  const { until, type, ended } = atTerminal(['exec', '--', process.execPath, script])
  await until(/watching/)
  type('q')
  expect(await ended).toBe(5)
})

test('at a terminal, Ctrl-C reaches the command of exec once, which decides how it ends', async () => {
  const script = temporaryFile(
    'server.cjs',
    `let count = 0
     process.on('SIGINT', () => { count += 1; setTimeout(() => { console.log('heard ' + count); process.exit(9) }, 200) })
     setInterval(() => {}, 1000)
     console.log('serving')`,
  )
  const { until, type, ended } = atTerminal(['exec', '--', process.execPath, script])
  await until(/serving/)
  type(CTRL_C)
  await until(/heard 1\b/)
  expect(await ended).toBe(9)
})

test('at a terminal, a command that ignores Ctrl-C is killed alone, one second after the second one', async () => {
  const sleeper = `trap '' INT HUP; sleep 600 & echo "sleeps as $!."; wait; wait`
  const { until, type, ended } = atTerminal(['exec', '--', 'sh', temporaryFile('deaf.sh', sleeper)])
  const pid = Number((await until(/sleeps as (\d+)\./))[1])
  onTestFinished(() => void process.kill(pid, 'SIGKILL'))
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  // Two signals within 100 ms count as one, so it is typed repeatedly.
  while (!isOver) {
    type(CTRL_C)
    await wait(50)
  }
  expect(await ended).toBe(130)
  expect(process.kill(pid, 0)).toBe(true)
})
