import { execFileSync } from 'node:child_process'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFile, withError } from './in-process.ts'
import { running } from './running.ts'

test('env prints the variables of a running emulator, which a shell reads', async () => {
  const { emulator, run, url } = await running({ fixtures: 'demo' })
  const { code, out, err } = await run('env')
  expect([code, err]).toEqual([0, ''])
  const script = `${out}\nprintf '%s %s' "$WORKSPACE_BASE_URL" "$WORKSPACE_API_KEY"`
  const shown = execFileSync('bash', ['-c', script], { encoding: 'utf8' })
  expect(shown).toBe(`${emulator.baseUrl} live_demo_owner`)
  expect(out).toContain(`export WORKSPACE_EMULATOR_URL=${url}`)
})

test('env has a form for each shell, and the key and the sandbox that are asked for', async () => {
  const { emulator, run, data } = await running({ fixtures: 'demo' })
  const base = emulator.baseUrl
  expect((await run('env', '--shell', 'powershell')).out).toContain(`$env:WORKSPACE_BASE_URL = '${base}'`)
  expect(parseEnv((await run('env', '--shell', 'dotenv')).out)).toEqual(await data('env'))
  expect((await run('env', '--shell', 'github')).out).toMatch(/^WORKSPACE_BASE_URL=http/)
  await run('sandbox', 'create', 'other')
  const service = await data('env', '--key', 'service', '--sandbox', 'other')
  expect(service.WORKSPACE_BASE_URL).toBe(base.replace('/v1', '/@other/v1'))
  expect(service.WORKSPACE_API_KEY).toBe(service.WORKSPACE_SERVICE_KEY)
})

test('env takes the keys of fixtures of your own, and names the way out without them', async () => {
  const own = { id: 'key-own', kind: 'user', token: "it's $HOME", user_id: 'user-owner' }
  const place = { organization_id: 'org-larkmoor', teamspace_id: 'teamspace-harbor' }
  const document = { extends: 'demo', collections: { api_keys: [{ ...own, ...place }] } }
  const fixtures = temporaryFile('own.json', JSON.stringify(document))
  const { run, data } = await running({ fixtures })
  const { out } = await run('env', '--fixtures', fixtures)
  const show = `${out}\nprintf %s "$WORKSPACE_API_KEY"`
  expect(execFileSync('bash', ['-c', show], { encoding: 'utf8' })).toBe(own.token)
  const { data: keys } = await data('state', 'list', 'api_keys')
  for (const { id, kind } of keys) if (kind === 'user') await run('state', 'delete', 'api_keys', id)
  const none = withError(1, 'No user key of the sandbox is in the fixtures')
  expect(await run('env', '--fixtures', fixtures)).toEqual(none)
})
