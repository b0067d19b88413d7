import { cpSync, symlinkSync, unlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from './in-process.ts'
import { spawnEmulator } from './process.ts'

test('packages that are removed while it runs end no process: only what needs them fails, with the way out', async () => {
  const folder = temporaryDirectory()
  for (const part of ['dist', 'fixtures', 'scenarios', 'package.json'])
    cpSync(part, join(folder, part), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const program = [process.execPath, join(folder, 'dist/cli.js')]
  const { ready, stop } = await spawnEmulator(['--ephemeral', '--rate', '0'], {}, program)
  const [pages, health] = [`${ready.base_url}/pages`, `${ready.control_url}/health`]
  unlinkSync(join(folder, 'node_modules'))
  const headers = { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' }
  expect((await fetch(pages, { method: 'POST', headers, body: '{"name":"a"}' })).status).toBe(200)
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
  expect((await fetch(pages, { headers })).status).toBe(405)
  const { code, err } = await stop()
  expect(code).toBe(0)
  expect(err.match(/ERROR: A part of the emulator cannot be loaded/g)).toHaveLength(1)
  expect(err).not.toMatch(/^ {4}at /m)
})
