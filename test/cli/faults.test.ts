import { expect, test } from 'vitest'
import { temporaryFile, withError } from './in-process.ts'
import { cells, running } from './running.ts'

test('a preset can be armed, listed, and cleared, and clear reports whether it fired', async () => {
  const { run, emulator } = await running()
  const [head, added] = cells((await run('faults', 'add', 'lost-response-after-commit')).out)
  expect(head).toBe('ID | SOURCE | STATUS | MATCHED | FIRED | ABOUT | WHEN | DOES')
  expect(added).toBe(
    'lost-response-after-commit | control | armed | 0 | 0 | batch-predictions.create, headers {"idempotency-key":"*"} | nth 1 by idempotency_key | cut {"at":"after-handler","how":"rst"}',
  )
  await run('faults', 'add', 'server-error')
  await fetch(`${emulator.baseUrl}/data-views`)
  expect(cells((await run('faults', 'list')).out)).toEqual([
    head,
    added,
    expect.stringMatching(/^server-error \| control \| armed \| 1 \| 1 \| every request \| always \| /),
  ])
  const clear = async () => (await run('faults', 'clear')).out
  const removed = 'Removed: lost-response-after-commit, server-error.'
  expect(await clear()).toBe(`${removed}\nNever fired: lost-response-after-commit.`)
  expect(await clear()).toBe('No fault rule was armed.')
  expect((await run('faults', 'list')).out).toMatch(/^No fault rule is armed\. .* lists the presets\.$/)
})

test('the removal of one rule says how often it fired or matched', async () => {
  const { run, emulator } = await running()
  await run('faults', 'add', 'server-error', '--first', '1')
  await run('faults', 'add', '{"id": "a;b=\\"c\\"", "preset": "rate-limited", "when": {"nth": 9}}')
  await run('faults', 'add', 'slow-drip', '--operation', 'pages.create')
  for (let n = 0; n < 2; n++) await fetch(`${emulator.baseUrl}/data-views`)
  const removed = async (id: string) => (await run('faults', 'clear', id)).out
  expect(await removed('server-error')).toBe('Removed: server-error. It fired once.')
  expect(await removed('a;b="c"')).toBe('Removed: a;b="c". It never fired; it matched once.')
  expect(await removed('slow-drip')).toMatch(/It never fired: nothing matched\.$/)
})

test('a rule or a list of rules can be given in a file', async () => {
  const { data } = await running()
  const rule = { id: 'filed', match: 'everything', when: { nth: 2 }, do: [{ respond: { status: 418 } }] }
  const file = temporaryFile('rule.json', JSON.stringify(rule))
  expect(await data('faults', 'add', file)).toMatchObject(rule)
  const list = temporaryFile('rules.json', JSON.stringify([{ preset: 'slow-drip' }, { preset: 'slow-drip' }]))
  expect((await data('faults', 'add', list)).data).toMatchObject([{ id: 'slow-drip' }, { id: 'slow-drip-2' }])
})

test('a refusal that repeats a text has no control character of it, as a line or as JSON', async () => {
  const { run } = await running()
  for (const flags of [[], ['--json']]) {
    const { code, err } = await run('faults', 'add', '{"preset": "\u009b2J\u202e"}', ...flags)
    expect([code, err]).toEqual([1, expect.stringMatching(/\\u009b2J\\+u202e/)])
    expect(err).not.toMatch(/[\u009b\u202e]/)
  }
})

test.for([
  ['add server-eror', 1, '/preset: "server-eror" is no preset. Did you mean "server-error"?'],
  ['add thunder', 1, 'is no preset. "workspace-emulator faults presets" lists every preset.'],
  ['add []', 1, 'must have at least 1 item'],
  ['add {"preset":}', 2, '<rule>: is not JSON: '],
  ['add [{"preset":"slow-drip"}] --match path=/v1/a', 2, '--operation and --match change one rule.'],
  ['add slow-drip --first 0', 2, '--first: "0" is not a count.'],
  ['add slow-drip --first 1 --always', 2, 'Give --first or --always, not both.'],
  ['add slow-drip --match path', 2, '--match: "path" is not FIELD=VALUE, such as path=/v1/pages.'],
  ['add slow-drip --match pth=/v1', 1, 'Did you mean "path"?'],
  ['clear x', 1, 'There is no fault rule "x".'],
  ['presets server-eror', 1, 'Did you mean "server-error"?'],
] as const)('faults %s fails with code %i', async ([line, code, message]) => {
  const { run } = await running()
  expect(await run('faults', ...line.split(' '))).toEqual(withError(code, message))
})

test('mistakes in a file are reported with their line', async () => {
  const { run } = await running()
  const file = temporaryFile('rule.json', '{\n  "preset": "slow-drip",\n  "when": {\n    "nht": 1\n  }\n}\n')
  expect((await run('faults', 'add', file)).err).toBe(
    `The rule cannot be armed:\n  ${file}:4: /when/nht: is not a known field. Did you mean "nth"?`,
  )
  const broken = temporaryFile('rule.json', '{\n  "preset"\n}')
  expect((await run('faults', 'add', broken)).err).toContain(`${broken}:3: is not JSON: `)
})

test('presets are listed by family with their effects on a client, followed by magic values', async () => {
  const { run, data } = await running()
  const lines = cells((await run('faults', 'presets')).out)
  expect(lines[0]).toBe('PRESET | FAMILY | LASTS | WHAT A CLIENT SEES')
  const { data: all, magic_values: magic } = await data('faults', 'presets')
  for (const { family, name, lasts, description } of all)
    expect(lines).toContain([name, family, lasts.replace('_', ' '), description].join(' | '))
  for (const { place, values } of magic)
    for (const { form, description } of values)
      expect(lines).toContain(` | ${form} | ${place} | ${description}`)
  const families: string[] = all.map(({ family }: { family: string }) => family)
  const begins = families.filter((family, n) => family !== families[n - 1])
  expect(begins).toHaveLength(new Set(families).size)
})

test('one preset is shown in full, with the ways to arm it', async () => {
  const { run } = await running()
  const { out } = await run('faults', 'presets', 'lost-response-after-commit')
  const lines = out.split('\n')
  expect(lines[0]).toMatch(/^lost-response-after-commit: The batch is created, then /)
  expect(lines.slice(1)).toEqual([
    '  about  batch-predictions.create, headers {"idempotency-key":"*"}',
    '  when   nth 1 by idempotency_key',
    '  does   cut {"at":"after-handler","how":"rst"}',
    '  times  1',
    '  lasts  once',
    '',
    '  workspace-emulator faults add lost-response-after-commit',
    '  X-Emulator-Fault: lost-response-after-commit',
  ])
  expect((await run('faults', 'presets', 'webhook-dropped')).out).not.toContain('X-Emulator-Fault')
})

test('a rule with a sequence shows its steps by name', async () => {
  const { run } = await running()
  const rule = {
    match: { webhook: 'batch_prediction.*' },
    when: { sequence: ['late', 'pass'] },
    actions: { late: [{ deliver: { delay: '1m' } }] },
  }
  const [, row] = cells((await run('faults', 'add', JSON.stringify(rule))).out)
  expect(row).toContain('batch_prediction.* | sequence ["late","pass"] | late: deliver {"delay":"1m"}')
})
