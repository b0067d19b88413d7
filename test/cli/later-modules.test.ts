import { cpSync, symlinkSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from './in-process.ts'
import { spawnEmulator } from './process.ts'

/** Starts an emulator. @param program what runs it */
async function started(...program: readonly string[]) {
  const { ready, stop } = await spawnEmulator(['--ephemeral', '--rate', '0'], {}, program)
  return { baseUrl: ready.base_url, health: `${ready.control_url}/health`, stop }
}

const AUTH = { authorization: 'Bearer live_demo_owner' }
const pages = {
  method: 'POST',
  headers: { ...AUTH, 'content-type': 'application/json' },
  body: '{"name":"a"}',
}

test('packages that are removed while it runs end no process: only what needs them fails, with the way out', async () => {
  const folder = temporaryDirectory()
  for (const part of ['dist', 'fixtures', 'scenarios', 'package.json'])
    cpSync(part, join(folder, part), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const { baseUrl, health, stop } = await started(process.execPath, join(folder, 'dist/cli.js'))
  unlinkSync(join(folder, 'node_modules'))
  expect((await fetch(`${baseUrl}/pages`, pages)).status).toBe(200)
  const refused = await fetch(health)
  expect([refused.status, await refused.json()]).toMatchObject([
    503,
    {
      error: 'service_unavailable',
      message: expect.stringMatching(/^A part of the emulator cannot be loaded \(Error: Cannot find module/),
      mitigation: expect.stringContaining('restart it'),
    },
  ])
  expect((await fetch(health)).status).toBe(503)
  expect((await fetch(`${baseUrl}/pages`, { headers: AUTH })).status).toBe(405)
  const { code, err } = await stop()
  expect(code).toBe(0)
  expect(err.match(/ERROR: A part of the emulator cannot be loaded/g)).toHaveLength(1)
  expect(err).not.toMatch(/^ {4}at /m)
})

test('a process without a free file descriptor goes on, and serves everything when there is one again', async () => {
  const limited = ['bash', '-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, resolve('dist/cli.js')]
  const { baseUrl, health, stop } = await started(...limited)
  const { port } = new URL(baseUrl)
  const sockets = Array.from({ length: 80 }, () => connect(Number(port), '127.0.0.1'))
  for (const socket of sockets) {
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
  }
  // The first request of the control interface loads modules, for which there is no descriptor. Which of the connections the
  // process has accepted, and not closed at once, depends on the system.
  const [answered] = sockets.map(
    (socket) => new Promise((resolve) => socket.once('data', resolve).once('close', resolve)),
  )
  for (const socket of sockets) socket.write('GET /__emulator/health HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await answered
  for (const socket of sockets) socket.destroy()
  // The process frees the descriptors when it notices that the connections have ended.
  const statusOf = (url: string, init?: RequestInit) =>
    fetch(url, init).then(
      ({ status }) => status,
      () => 0,
    )
  await expect.poll(() => statusOf(health)).toBe(200)
  await expect.poll(() => statusOf(`${baseUrl}/pages`, pages)).toBe(200)
  const { code, err } = await stop()
  expect(code).toBe(0)
  // Whether a module had to be loaded without a descriptor depends on the system, too; if so, it is said once.
  expect(err.match(/ERROR: A part of the emulator cannot be loaded/g)?.length ?? 1).toBe(1)
})
