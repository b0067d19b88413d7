import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import {
  command,
  lastingCommand,
  startedEmulator,
  temporaryDirectory,
  temporaryFile,
  withError,
} from './in-process.ts'
import { spawnCommand, spawnEmulator } from './process.ts'

/** Opens a request whose body never ends, so that a graceful stop has to wait for it. */
async function hangingRequest(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  const head = `POST /v1/pages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer live_demo_owner\r\n`
  // The interim response 100 shows that the request is being handled.
  socket.write(`${head}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n`)
  await once(socket, 'data')
  socket.write('{"name":')
}

test('start --json prints its address and its keys, and the keys work', async () => {
  const { ready, stop } = await startedEmulator()
  const { port, keys } = ready
  const origin = `http://127.0.0.1:${port}`
  expect(ready).toEqual({ base_url: `${origin}/v1`, control_url: `${origin}/__emulator`, port, keys })
  expect(Object.keys(keys)).toEqual(['user', 'member', 'service'])
  for (const key of Object.values(keys)) {
    const headers = { authorization: `Bearer ${key}` }
    expect((await fetch(`${origin}/v1/data-views`, { headers })).status).toBe(200)
  }
  expect((await stop()).code).toBe(0)
})

test('start without a command name prints the banner, with the keys that its fixtures have', async () => {
  const data = temporaryDirectory()
  const shown = async (...argv: string[]): Promise<string> => {
    const { next, signal, ended } = lastingCommand(['--port=0', '--data', data, ...argv])
    expect(await next()).toMatch(/^Agent Workspace Service emulator \d/)
    signal('SIGINT')
    const { code, out } = await ended
    expect(code).toBe(0)
    return out
  }
  expect(await shown('--rate=0', '--clock=2026-03-01')).toMatch(
    /^ {2}Clock {6}2026-03-01T00:00:00\.000Z, frozen\n[\s\S]*^ {2}Keys +live_demo_owner .*\n +live_demo_member /m,
  )
  expect(await shown('--fixtures', temporaryFile('other.json', '{}'))).toMatch(
    /^ {2}Keys +the fixtures of this start have no key of the sandbox/m,
  )
})

test('--quiet prints nothing and logs only warnings', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const { stop } = lastingCommand(['start', '--quiet', '--ephemeral', '--port', String(port)])
  expect((await command(['wait', '--url', url])).code).toBe(0)
  await command(['faults', 'add', 'slow', '--url', url])
  expect(await stop()).toEqual(withError(0, /^[^\n]+ WARN: Fault rules of default that never fired: .*$/))
})

test('with --log-format json the banner is a log entry', async () => {
  const { hasSaid, stop } = lastingCommand(['--port', '0', '--ephemeral', '--log-format', 'json'])
  await hasSaid('"ready"')
  const { out, err } = await stop()
  expect(out).toBe('')
  expect(JSON.parse(err.split('\n')[0] ?? '')).toMatchObject({ level: 'info', message: 'ready', seed: 1 })
})

test('a second start on one directory is refused with the pid of the first, and the sandbox survives a restart', async () => {
  const data = temporaryDirectory()
  const first = await spawnEmulator(['--data', data, '--seed', '7'])
  const second = await command(['start', '--port', '0', '--data', data])
  expect(second).toEqual(withError(1, `in use by process ${first.child.pid}`))
  await first.stop()
  expect(JSON.parse(readFileSync(join(data, 'default.json'), 'utf8')).seed).toBe(7)
  const third = await startedEmulator(['--data', data, '--seed', '8'])
  expect((await third.stop()).err).toContain(
    `${join(data, 'default.json')} already contains a sandbox: --seed will take effect when it is reset ("workspace-emulator reset").`,
  )
  expect(JSON.parse(readFileSync(join(data, 'default.json'), 'utf8')).seed).toBe(7)
})

test('on an address that others can reach, a control token is generated, printed and required', async () => {
  const { ready, stop } = await startedEmulator(['--ephemeral', '--host', '0.0.0.0'])
  const url = `http://127.0.0.1:${ready.port}/__emulator/clock`
  expect((await fetch(url)).status).toBe(401)
  const authorization = `Bearer ${ready.control_token}`
  expect((await fetch(url, { headers: { authorization } })).status).toBe(200)
  expect((await stop()).err).toContain(`requires a token, created for this run: ${ready.control_token}\n`)
})

test('D7 the first signal waits for requests in flight, up to a limit', async () => {
  const { ready, signal, ended } = await startedEmulator()
  await hangingRequest(ready.port)
  signal('SIGHUP')
  const { code, err } = await ended
  expect(code).toBe(0)
  expect(err).toContain('SIGHUP: finishing requests in flight')
  expect(err).toContain('Some requests in flight were cut')
})

test('D7 a second signal ends the process at once', async () => {
  const { ready, child, ended } = await spawnEmulator()
  await hangingRequest(ready.port)
  child.kill('SIGTERM')
  await once(child.stderr ?? child, 'data')
  child.kill('SIGTERM')
  expect((await ended).code).toBe(143)
})

test('a closed stdout is not an error', async () => {
  const { child, ended } = spawnCommand(['start', '--help'])
  child.stdout?.destroy()
  expect(await ended).toMatchObject({ code: 0, err: '' })
})

test('D7 start ends when npm has ended, because the shell between them does not forward signals', async () => {
  const shell = spawn('sh', ['-c', 'node dist/cli.js start --port 0 --ephemeral --json; true'], {
    env: { ...process.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = (await once(shell.stdout, 'data')) as [Buffer]
  const { control_url } = JSON.parse(line.toString()) as { control_url: string }
  expect((await fetch(`${control_url}/health`)).status).toBe(200)
  shell.kill('SIGTERM')
  const isGone = async () => (await fetch(`${control_url}/health`).catch(() => undefined)) === undefined
  await expect.poll(isGone).toBe(true)
})
