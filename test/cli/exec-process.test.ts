import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory, temporaryFile } from './in-process.ts'
import { type Running, spawnCommand } from './process.ts'

/** The output of a command of these tests: its process ids, and the address of the emulator. */
interface CommandOutput {
  readonly pids: readonly number[]
  readonly url: string
}

const SAY = 'echo "{\\"pids\\": [$PIDS], \\"url\\": \\"$WORKSPACE_EMULATOR_URL\\"}"'

const SLEEPER = `sleep 600 & PIDS="$$, $!"; ${SAY}; wait`

async function firstLine(stdout: Readable): Promise<CommandOutput> {
  const [line] = (await once(stdout, 'data')) as [Buffer]
  const said = JSON.parse(line.toString()) as CommandOutput
  onTestFinished(() => kill(said.pids))
  return said
}

/** Runs a shell script as the command, with a child process that sleeps for ten minutes. */
async function execScript(script: string): Promise<Running & { readonly said: CommandOutput }> {
  const whole = `sleep 600 & PIDS="$$, $!"; ${script.replace('SAY', SAY)}`
  const running = spawnCommand(['exec', '--', 'sh', '-c', whole])
  const said = JSON.parse(await running.line) as CommandOutput
  onTestFinished(() => kill(said.pids))
  return { ...running, said }
}

function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {}
  }
}

/** Whether all processes of the command have ended and no server responds at the emulator's address. */
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
  expect(JSON.parse(err)).toMatchObject({ exit_code: 3, command: ['sh', '-c', script], requests: 0 })
  expect(await isGone(JSON.parse(out))).toBe(true)
  expect(readdirSync(cwd)).toEqual([])
})

test('commands of the emulator find it in the environment, with its control token', async () => {
  const own = [process.execPath, 'dist/cli.js', 'clock', 'advance', '1h', '--json']
  const { code, out, err } = await spawnCommand(['exec', '--host', '0.0.0.0', '--', ...own]).ended
  expect([code, err]).toEqual([0, ''])
  const { from, to } = JSON.parse(out)
  expect(Date.parse(to) - Date.parse(from)).toBeGreaterThanOrEqual(3_600_000)
})

test.for(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s is passed on, the command decides how it ends, and the emulator runs until then',
  async (signal) => {
    const script = `trap 'kill $!; exit 9' ${signal.slice(3)}; SAY; wait $!`
    const { child, ended, said } = await execScript(script)
    expect((await fetch(`${said.url}/__emulator/ready`)).status).toBe(200)
    child.kill(signal)
    expect((await ended).code).toBe(9)
    expect(await isGone(said)).toBe(true)
  },
)

test('children that remain after the command ended by a signal get the signal too', async () => {
  const below = `trap 'kill $!; echo heard; exit' TERM; sleep 600 & PIDS="$ABOVE, $$, $!"; ${SAY}; wait`
  const script = `ABOVE=$$ sh ${temporaryFile('below.sh', below)} & wait; true`
  const { child, ended, said } = await execScript(script)
  expect(said.pids).toHaveLength(3)
  child.kill('SIGTERM')
  const { code, out } = await ended
  expect([code, out.split('\n')[1]]).toEqual([143, 'heard'])
  expect(await isGone(said)).toBe(true)
})

test('remaining children that ignore the signal are killed one second later', async () => {
  const below = `trap '' TERM; sleep 600 & PIDS="$ABOVE, $$, $!"; ${SAY}; wait`
  const script = `ABOVE=$$ sh ${temporaryFile('below.sh', below)} & wait; true`
  const { child, ended, said } = await execScript(script)
  child.kill('SIGTERM')
  expect((await ended).code).toBe(143)
  expect(await isGone(said)).toBe(true)
})

test('a second signal kills a command that ignores the first, with all its children', async () => {
  const { child, ended, said } = await execScript(`trap '' TERM; sleep 600 & PIDS="$$, $!"; SAY; wait`)
  child.kill('SIGTERM')
  expect((await fetch(`${said.url}/__emulator/ready`)).status).toBe(200)
  expect(said.pids.map(isRunning)).toEqual([true, true])
  // A signal right after the first counts as the same signal, so it is sent repeatedly.
  for (let n = 0; n < 1_200 && child.exitCode === null; n++) {
    await wait(50)
    child.kill('SIGTERM')
  }
  expect((await ended).code).toBe(143)
  expect(await isGone(said)).toBe(true)
})

test('two signals at the same time count as one: a command that ends in order is not killed', async () => {
  const { child, ended, said } = await execScript("trap 'sleep 0.05; kill $!; exit 9' TERM INT; SAY; wait $!")
  child.kill('SIGTERM')
  child.kill('SIGINT')
  expect((await ended).code).toBe(9)
  expect(await isGone(said)).toBe(true)
})

test('a port in use is reported, and the command does not run', async () => {
  const first = await execScript('SAY; wait')
  const { port } = new URL(first.said.url)
  const { code, out, err } = await spawnCommand(['exec', '--port', port, '--', 'echo', 'ran']).ended
  expect([code, out, err]).toEqual([1, '', expect.stringContaining(`Port ${port} on 127.0.0.1 is in use.`)])
  first.child.kill('SIGTERM')
  await first.ended
})

test('an internal error of the emulator also ends the command', async () => {
  const start = "require('./dist/main.js').main(); process.once('SIGUSR2', () => { throw new Error('boom') })"
  const argv = ['-e', start, 'x', 'exec', '--', 'sh', temporaryFile('command.sh', SLEEPER)]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = await firstLine(child.stdout)
  expect(said.pids.map(isRunning)).toEqual([true, true])
  child.kill('SIGUSR2')
  expect(await once(child, 'exit')).toEqual([1, null])
  // A process that was killed may be listed for a moment.
  for (let n = 0; n < 600 && !(await isGone(said)); n++) await wait(100)
  expect(await isGone(said)).toBe(true)
})

test('exec ends when npm has ended, because the shell between them does not forward signals', async () => {
  const script = temporaryFile('command.sh', SLEEPER)
  const shell = spawn('sh', ['-c', `node dist/cli.js exec -- sh ${script}; true`], {
    env: { ...process.env, npm_lifecycle_event: 'test' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const said = await firstLine(shell.stdout)
  shell.kill('SIGTERM')
  for (let n = 0; n < 600 && !(await isGone(said)); n++) await wait(100)
  expect(await isGone(said)).toBe(true)
})
