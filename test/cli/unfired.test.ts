import { expect, test } from 'vitest'
import { unfiredRules } from '../../src/terminal/launch.ts'
import { command, startedEmulator } from './in-process.ts'
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
  const { stop } = await startedEmulator(['--ephemeral', '--scenarios', '/nowhere'])
  expect((await stop()).err).toContain(
    '/nowhere is not a directory: until it is, there are only the built-in scenarios.',
  )
})

test('at a stop, rules that never fired are printed', async () => {
  const { ready, stop } = await startedEmulator()
  const url = new URL(ready.control_url).origin
  const armed = await command(['faults', 'add', 'lost-response-after-commit', '--url', url])
  expect(armed.code).toBe(0)
  const { code, err } = await stop()
  expect(code).toBe(0)
  expect(err).toContain(
    'Fault rules of default that never fired: lost-response-after-commit (matched 0 times)',
  )
})
