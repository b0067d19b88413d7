import { expect, test } from 'vitest'
import { temporaryFile } from './in-process.ts'
import { running } from './running.ts'

const HEAD = 'ID  SOURCE  STATUS  MATCHED  FIRED  ABOUT  WHEN  DOES'

/** Runs a command and returns the rows of its table, with single spaces between cells. */
async function table(run: Awaited<ReturnType<typeof running>>['run'], ...argv: readonly string[]) {
  const { code, out, err } = await run(...argv)
  expect([code, err]).toEqual([0, ''])
  const lines = out.split('\n').filter((line) => !/^\S+: It /.test(line))
  const [head = '', ...rows] = lines.map((line) => line.split(/ {2,}/))
  expect(head).toEqual(HEAD.split(/ {2,}/))
  return rows
}

test('a preset can be armed, listed, and cleared, and clear reports whether it fired', async () => {
  const { run, emulator } = await running()
  const [added] = await table(run, 'faults', 'add', 'lost-response-after-commit')
  expect(added).toEqual([
    'lost-response-after-commit',
    'control',
    'armed',
    '0',
    '0',
    'batch-predictions.create, headers {"idempotency-key":"*"}',
    'nth 1 by idempotency_key',
    'cut {"at":"after-handler","how":"rst"}',
  ])
  await run('faults', 'add', 'server-error')
  await fetch(`${emulator.baseUrl}/data-views`)
  const listed = await table(run, 'faults')
  expect(listed.map((row) => row.slice(0, 5))).toEqual([
    ['lost-response-after-commit', 'control', 'armed', '0', '0'],
    ['server-error', 'control', 'armed', '1', '1'],
  ])
  expect(await table(run, 'faults', 'list')).toEqual(listed)
  expect((await run('faults', 'clear')).out).toBe(
    'Removed: lost-response-after-commit, server-error.\nNever fired: lost-response-after-commit.',
  )
  expect((await run('faults', 'clear')).out).toBe('No fault rule was armed.')
  expect((await run('faults')).out).toBe(
    'No fault rule is armed. "workspace-emulator faults presets" lists the presets.',
  )
})

test('a rule can be cleared by its id, whatever characters it contains', async () => {
  const { run, emulator } = await running()
  const ask = (fault: string) =>
    fetch(`${emulator.baseUrl}/data-views`, { headers: { 'X-Emulator-Fault': fault } })
  await ask('server-error')
  await ask('batch-poll-transient-error')
  await run('faults', 'add', '{"id": "a;b=\\"c\\"", "preset": "rate-limited", "when": {"nth": 9}}')
  await run('faults', 'add', 'slow-drip', '--operation', 'pages.create')
  await fetch(`${emulator.baseUrl}/data-views`)
  expect((await run('faults', 'clear', 'header:server-error')).out).toBe(
    'Removed: header:server-error. It fired once.',
  )
  expect((await run('faults', 'clear', 'a;b="c"')).out).toBe(
    'Removed: a;b="c". It never fired; it matched once.',
  )
  expect((await run('faults', 'clear', 'slow-drip')).out).toMatch(/It never fired: nothing matched\.$/)
})

test.for([
  [['--operation', 'pages.create'], { match: { operation: 'pages.create' } }],
  [
    ['--match', 'method=GET', '--match', 'path=/v1/pages*', '--match', 'headers.user-agent=curl/*'],
    { match: { method: 'GET', path: '/v1/pages*', headers: { 'user-agent': 'curl/*' } } },
  ],
  [['--match', 'query.after=a=b'], { match: { query: { after: 'a=b' } } }],
  [['--match', 'connection_request_index=2'], { match: { connection_request_index: 2 } }],
  [[], { when: {}, times: null }],
  [['--first', '2'], { when: { first: 2 }, times: null }],
  [['--always'], { when: {} }],
] as const)('faults add server-error %j', async ([flags, expected]) => {
  const { data } = await running()
  const rule = await data('faults', 'add', 'server-error', ...flags)
  const members = Object.keys(expected)
  expect(Object.fromEntries(members.map((name) => [name, rule[name]]))).toEqual(expected)
})

test('a preset that counts by a key keeps that key when its timing changes', async () => {
  const { data } = await running()
  const { when } = await data('faults', 'add', 'batch-poll-transient-error', '--first', '4')
  expect(when).toEqual({ first: 4, by: 'resource_id' })
  const { when: each } = await data('faults', 'add', 'batch-poll-transient-error', '--always')
  expect(each).toEqual({ by: 'resource_id' })
})

test('a rule can be given as JSON, inline or in a file, and flags change it', async () => {
  const { data } = await running()
  const rule = {
    id: 'own',
    match: 'everything',
    when: { nth: 2, by: 'tag' },
    do: [{ respond: { status: 418 } }],
  }
  expect(await data('faults', 'add', JSON.stringify(rule))).toMatchObject(rule)
  const file = temporaryFile('rule.json', JSON.stringify({ ...rule, id: 'filed' }))
  const filed = await data('faults', 'add', file, '--operation', 'pages.create', '--first', '5')
  expect(filed).toMatchObject({
    id: 'filed',
    match: { operation: 'pages.create' },
    when: { first: 5, by: 'tag' },
  })
  const list = temporaryFile('rules.json', JSON.stringify([{ preset: 'slow-drip' }, { preset: 'slow-drip' }]))
  expect((await data('faults', 'add', list)).data.map(({ id }: { id: string }) => id)).toEqual([
    'slow-drip',
    'slow-drip-2',
  ])
})

test.for([
  [['add', 'server-eror'], 1, '/preset: "server-eror" is no preset. Did you mean "server-error"?'],
  [['add', 'server-eror', '--first', '2'], 1, '"server-eror" is no preset. Did you mean "server-error"?'],
  [['add', 'lost-resp'], 1, 'is no preset. Did you mean "lost-response-after-commit"?'],
  [['add', 'thunder'], 1, 'is no preset. "workspace-emulator faults presets" lists every preset.'],
  [
    ['add', '{"preset": "slow-drip", "when": {"by": "weather"}}'],
    1,
    'is no thing to count by. Use one of rule, api_key,',
  ],
  [['add', '[]'], 1, 'must have at least 1 item'],
  [['add', '{"preset": }'], 2, '<rule>: is not JSON: '],
  [['add', '/nowhere.json'], 1, '/nowhere.json: there is no such file'],
  [
    ['add', '[{"preset": "slow-drip"}]', '--match', 'path=/v1/a'],
    2,
    '--operation and --match change one rule.',
  ],
  [['add'], 2, "missing required argument 'rule': name of a preset, path of a JSON file, or JSON in quotes"],
  [['add', 'slow-drip', '--first', '0'], 2, '--first: "0" is not a count.'],
  [['add', 'slow-drip', '--first', '1', '--always'], 2, 'Give --first or --always, not both.'],
  [['add', 'slow-drip', '--match', 'path'], 2, '--match: "path" is not FIELD=VALUE, such as path=/v1/pages.'],
  [['add', 'slow-drip', '--match', 'pth=/v1'], 1, 'Did you mean "path"?'],
  [['add', 'slow-drip', '--operation', 'pages.creat'], 1, 'Did you mean "pages.create"?'],
  [['clear', 'x'], 1, 'There is no fault rule "x".'],
  [['presets', 'server-eror'], 1, 'Did you mean "server-error"?'],
  [['ad'], 2, "unknown command 'ad'\n(Did you mean add?)"],
] as const)('faults %j fails with code %i', async ([argv, code, message]) => {
  const { run } = await running()
  const outcome = await run('faults', ...argv)
  expect([outcome.code, outcome.out, outcome.err]).toEqual([code, '', expect.stringContaining(message)])
})

test('each of several mistakes is reported once', async () => {
  const { run } = await running()
  expect((await run('faults', 'add', '{"preset": "slow-drip", "then": "go", "times": 0}')).err).toBe(
    '2 fields are not valid: /then: must be one of "stop", "continue" (also /times)\n  /times: must be an integer from 1 to 1000000000',
  )
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
  const { out } = await run('faults', 'presets')
  expect(out).toMatch(
    /^PRESET +FAMILY +LASTS +WHAT A CLIENT SEES\nrate-limited +rate limit +until removed +A 429 /,
  )
  const lines = out.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' '))
  const { data: all, magic_values: magic } = await data('faults', 'presets')
  const families = all.map(({ family }: { family: string }) => family)
  expect(families.filter((family: string, n: number) => family !== families[n - 1])).toHaveLength(
    new Set(families).size,
  )
  for (const { family, name, lasts, description } of all)
    expect(lines).toContain(`${name} ${family} ${lasts.replace('_', ' ')} ${description}`)
  for (const { place, values } of magic)
    for (const { form, description } of values) expect(lines).toContain(` ${form} ${place} ${description}`)
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

test('every command can select another sandbox', async () => {
  const { run, data } = await running()
  await run('faults', 'add', 'slow-drip', '--sandbox', 'w1')
  expect((await data('faults', 'list')).data).toEqual([])
  expect((await data('faults', 'list', '--sandbox', 'w1')).data).toMatchObject([{ id: 'slow-drip' }])
  expect(await data('faults', 'clear', '--sandbox', 'w1')).toEqual({
    removed: ['slow-drip'],
    never_fired: ['slow-drip'],
  })
})

test('a rule with a sequence shows its steps by name', async () => {
  const { run } = await running()
  const rule = {
    match: { webhook: 'batch_prediction.*' },
    when: { sequence: ['late', 'pass'] },
    actions: { late: [{ deliver: { delay: '1m' } }] },
  }
  const [row] = await table(run, 'faults', 'add', JSON.stringify(rule))
  expect(row?.slice(5)).toEqual([
    'webhook batch_prediction.*',
    'sequence ["late","pass"]',
    'late: deliver {"delay":"1m"}',
  ])
})
