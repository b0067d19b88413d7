import { expect, test } from 'vitest'
import { unfiredRules } from '../../src/terminal/launch.ts'
import { running } from './running.ts'

test('rules that never fired are listed for each sandbox, the first ten with how often they matched', async () => {
  const { run, emulator } = await running()
  await run('faults', 'add', 'server-error', '--first', '1')
  await run('faults', 'add', '{"preset": "rate-limited", "when": {"nth": 2}}')
  const rule = { match: { operation: 'pages.create' }, do: [{ respond: { status: 500 } }] }
  const rules = Array.from({ length: 12 }, (_, n) => ({ ...rule, id: `rule-${n}` }))
  await run('faults', 'add', JSON.stringify(rules), '--sandbox', 'w1')
  for (let n = 0; n < 2; n++) await fetch(`${emulator.baseUrl}/data-views`)
  const sandboxes = emulator.sandboxes.list().map(({ sandbox }) => sandbox)
  expect(unfiredRules(sandboxes)).toEqual([
    'Fault rules of default that never fired: rate-limited (matched 1 time)',
    expect.stringMatching(
      /^Fault rules of w1 that never fired: rule-0 \(matched 0 times\), .*rule-9 \(matched 0 times\), and 2 more$/,
    ),
  ])
  const many = Array.from({ length: 23 }, () => sandboxes[1] ?? emulator.sandbox)
  expect(unfiredRules(many)).toHaveLength(21)
  expect(unfiredRules(many).at(-1)).toBe('and others in 3 more sandboxes')
})
