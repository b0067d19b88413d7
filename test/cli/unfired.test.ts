import { expect, test } from 'vitest'
import { unfiredRules } from '../../src/adapters/cli/launch.ts'
import { spawnEmulator } from './process.ts'
import { running } from './running.ts'

test('rules that never fired are listed for each sandbox, with how often they matched', async () => {
  const { run, emulator } = await running()
  await run('faults', 'add', 'server-error', '--first', '1')
  await run('faults', 'add', '{"preset": "rate-limited", "when": {"nth": 2}}')
  await run('faults', 'add', 'slow-drip', '--operation', 'pages.create', '--sandbox', 'w1')
  await fetch(`${emulator.baseUrl}/data-views`)
  await fetch(`${emulator.baseUrl}/data-views`)
  const sandboxes = emulator.sandboxes.list().map(({ sandbox }) => sandbox)
  expect(unfiredRules(sandboxes)).toEqual([
    'Fault rules of default that never fired: rate-limited (matched 1 time)',
    'Fault rules of w1 that never fired: slow-drip (matched 0 times)',
  ])
  const many = Array.from({ length: 23 }, () => sandboxes[1] ?? emulator.sandbox)
  expect(unfiredRules(many)).toHaveLength(21)
  expect(unfiredRules(many).at(-1)).toBe('and others in 3 more sandboxes')
})

test('many rules that never fired take one line, with the number of those that it does not name', async () => {
  const { run, emulator } = await running()
  const rule = { match: { operation: 'pages.create' }, do: [{ respond: { status: 500 } }] }
  const rules = Array.from({ length: 1_000 }, (_, n) => ({ ...rule, id: `rule-${n}` }))
  for (const part of [rules.slice(0, 500), rules.slice(500)]) await run('faults', 'add', JSON.stringify(part))
  const [line = '', ...others] = unfiredRules([emulator.sandbox])
  expect(others).toEqual([])
  expect(line).toMatch(
    /^Fault rules of default that never fired: rule-0 \(matched 0 times\), .*, and 990 more$/,
  )
})

test('a missing directory of scenarios causes a warning', async () => {
  const { child, ended } = await spawnEmulator(['--ephemeral', '--scenarios', '/nowhere'])
  child.kill('SIGTERM')
  expect((await ended).err).toContain(
    '/nowhere is not a directory: until it is, there are only the built-in scenarios.',
  )
})

test('at a stop, rules that never fired are printed', async () => {
  const { ready, child, ended } = await spawnEmulator()
  const arm = (rule: object) => {
    const body = JSON.stringify(rule)
    const headers = { 'content-type': 'application/json' }
    return fetch(`${ready.control_url}/faults`, { method: 'POST', headers, body })
  }
  expect((await arm({ preset: 'lost-response-after-commit' })).status).toBe(201)
  child.kill('SIGTERM')
  const { code, err } = await ended
  expect(code).toBe(0)
  expect(err).toContain(
    'Fault rules of default that never fired: lost-response-after-commit (matched 0 times)',
  )
})
