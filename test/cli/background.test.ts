import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { command, temporaryDirectory, withError } from './in-process.ts'
import { spawnCommand } from './process.ts'
import { running } from './running.ts'

test('start --detach runs in the background, and stop ends it with its state saved', async () => {
  const data = temporaryDirectory()
  const started = await spawnCommand(['start', '--detach', '--json', '--port', '0', '--data', data]).ended
  expect([started.code, started.err]).toEqual([0, ''])
  const { pid, port, base_url, log } = JSON.parse(started.out)
  onTestFinished(() => {
    rmSync(log)
    if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL')
  })
  const headers = { authorization: 'Bearer live_demo_owner' }
  expect((await fetch(`${base_url}/data-views`, { headers })).status).toBe(200)
  const url = `http://127.0.0.1:${port}`
  expect(await command(['stop', '--url', url])).toEqual({ code: 0, out: `Stopped: ${url}`, err: '' })
  // A free folder shows that the process has ended, not only its port.
  await running({ ephemeral: false, data })
  expect(readFileSync(log, 'utf8')).toContain('finishing requests in flight')
})

test('start --detach fails with the same error as start', async () => {
  const { url } = await running()
  const { port } = new URL(url)
  const start = ['start', '--detach', '--ephemeral', '--port', port]
  const [plain, json] = await Promise.all([
    spawnCommand(start).ended,
    spawnCommand([...start, '--json']).ended,
  ])
  const message = `Port ${port} on 127.0.0.1 is in use. Choose another with --port, or a free one with --port 0.`
  expect(plain).toEqual({ code: 1, out: '', err: `${message}\n` })
  expect(JSON.parse(json.err)).toEqual({ error: { message, exit_code: 1 } })
})

test('stop does not end an emulator inside another program', async () => {
  const { run } = await running()
  expect(await run('stop')).toEqual(withError(1, 'The emulator runs inside another program, and ends'))
})

test('open opens the dashboard of a sandbox, or prints its address without a browser', async () => {
  const { url, run } = await running()
  const folder = temporaryDirectory()
  const opener = join(folder, 'xdg-open')
  writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > '${folder}/opened'\n`)
  chmodSync(opener, 0o755)
  vi.stubEnv('PATH', `${folder}${delimiter}/usr/bin:/bin`)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect((await run('open')).out).toBe(`Opened: ${url}/__emulator/ui/`)
  expect(readFileSync(join(folder, 'opened'), 'utf8')).toBe(`${url}/__emulator/ui/`)
  vi.stubEnv('PATH', '/nowhere')
  const none = await run('open', '--sandbox', 'w1')
  expect([none.code, none.out]).toEqual([0, `Open it in a browser: ${url}/@w1/__emulator/ui/`])
})

test('latency can be shown, changed and removed', async () => {
  const { run, data } = await running()
  expect((await run('latency')).out).toBe('Responses are not delayed.')
  expect((await run('latency', '300ms')).out).toBe('Every response is delayed by 300 ms.')
  expect((await run('latency', '1-2s')).out).toBe('Every response is delayed by 1000 to 2000 ms.')
  expect(await data('latency')).toEqual({ latency: [1_000, 2_000] })
  expect((await run('latency', 'off')).out).toBe('Responses are not delayed.')
})

test('start --latency delays every sandbox, also after a reset', async () => {
  const { run, data } = await running({ latency: '20-30ms' })
  await run('sandbox', 'create', 'w1')
  for (const sandbox of ['default', 'w1']) {
    expect(await data('latency', '--sandbox', sandbox)).toEqual({ latency: [20, 30] })
    await run('latency', 'off', '--sandbox', sandbox)
    await run('reset', '--sandbox', sandbox)
    expect(await data('latency', '--sandbox', sandbox)).toEqual({ latency: [20, 30] })
  }
})
