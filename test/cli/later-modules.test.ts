import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'later-modules-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts an emulator. @param cli the file of the command */
async function started(cli: string) {
  const options = ['--port', '0', '--ephemeral', '--json', '--rate', '0']
  const child = spawn(process.execPath, [cli, 'start', ...options])
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  let log = ''
  child.stderr.on('data', (chunk) => {
    log += chunk
  })
  const [line] = await Promise.race([once(child.stdout, 'data'), ended.then(() => [log])])
  const { base_url } = JSON.parse(String(line)) as { base_url: string }
  const stop = async () => {
    child.kill('SIGTERM')
    return (await ended)[0]
  }
  return { baseUrl: base_url, health: base_url.replace('/v1', '/__emulator/health'), log: () => log, stop }
}

const AUTH = { authorization: 'Bearer live_demo_owner' }
const pages = {
  method: 'POST',
  headers: { ...AUTH, 'content-type': 'application/json' },
  body: '{"name":"a"}',
}

test('packages that are removed while it runs end no process: only what needs them fails, with the way out', async () => {
  const folder = temporaryFolder()
  for (const part of ['dist', 'fixtures', 'scenarios', 'package.json'])
    cpSync(part, join(folder, part), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const { baseUrl, health, log, stop } = await started(join(folder, 'dist/cli.js'))
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
  expect(await stop()).toBe(0)
  expect(log().match(/ERROR: A part of the emulator cannot be loaded/g)).toHaveLength(1)
  expect(log()).not.toMatch(/^ {4}at /m)
})
