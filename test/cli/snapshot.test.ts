import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { temporaryFile } from './in-process.ts'
import { running, START } from './running.ts'

test('a snapshot can be saved, listed, restored and deleted', async () => {
  const { run, data } = await running()
  expect((await run('snapshot', 'list')).out).toBe(
    'There are no snapshots. "workspace-emulator snapshot save NAME" saves one.',
  )
  expect((await run('snapshot', 'save', 'before')).out).toBe(
    `Snapshot before saved: 0 records, clock ${START}.`,
  )
  await run('clock', 'advance', '1h')
  expect(await run('snapshot', 'restore', 'before')).toEqual({
    code: 0,
    out: `The sandbox is restored from snapshot before; its clock is at ${START}.`,
    err: '',
  })
  expect((await data('clock')).now).toBe(START)
  expect((await run('snapshot')).out).toBe(
    `NAME    CLOCK                     REVISION  RECORDS\nbefore  ${START}  0         0`,
  )
  expect((await run('snapshot', 'delete', 'before')).out).toBe('Snapshot before deleted.')
  expect((await data('snapshot')).data).toEqual([])
})

test('saving under an existing name reports that it was replaced', async () => {
  const { run } = await running()
  await run('snapshot', 'save', 'a')
  expect((await run('snapshot', 'save', 'a')).out).toContain('in place of the previous one')
})

test('a snapshot can be exported and imported by calls', async () => {
  const { run, data } = await running()
  await run('snapshot', 'save', 'a')
  const text = (await run('call', 'GET', 'snapshots/a')).out
  expect(text).toContain('\n  "sandbox": "default",\n')
  const file = temporaryFile('a.json', text)
  expect((await data('call', 'PUT', 'snapshots/b', file)).name).toBe('b')
  const names = (await data('snapshot', 'list')).data.map(({ name }: { name: string }) => name)
  expect(names).toEqual(['a', 'b'])
  expect((await run('call', 'GET', 'snapshots/b')).out).toBe(text)
})

test('each sandbox has its own snapshots', async () => {
  const { run } = await running()
  await run('snapshot', 'save', 'a', '--sandbox', 'w1')
  expect((await run('snapshot', 'restore', 'a')).err).toContain('has no snapshot "a"')
  expect((await run('snapshot', 'restore', 'a', '--sandbox', 'w1')).code).toBe(0)
})

test('an invalid document is refused with file and line', async () => {
  const { run } = await running()
  await run('snapshot', 'save', 'a')
  const { out } = await run('call', 'GET', 'snapshots/a')
  const broken = temporaryFile('b.json', out.replace('"rate": 0', '"rate": -1'))
  const line =
    readFileSync(broken, 'utf8')
      .split('\n')
      .findIndex((each) => each.includes('"rate"')) + 1
  const { code, err } = await run('call', 'PUT', 'snapshots/b', broken)
  expect(code).toBe(1)
  expect(err).toMatch(/^The body is refused:\n/)
  expect(err).toContain(`  ${broken}:${line}: /clock/rate: `)
})

test.for([
  [
    ['snapshot', 'restore', 'befor'],
    1,
    'The sandbox "default" has no snapshot "befor". Did you mean "before"?',
  ],
  [['snapshot', 'save', 'A'], 1, '/name: must be 1 to 63 lower-case letters'],
  [['snapshot', 'save'], 2, "missing required argument 'name': lower-case letters"],
  [['call', 'PUT', 'snapshots/x', '/nowhere.json'], 1, '/nowhere.json: there is no such file'],
  [['snapshot', 'sav', 'x'], 2, "unknown command 'sav'\n(Did you mean save?)"],
] as const)('%j fails with code %i', async ([argv, code, message]) => {
  const { run } = await running()
  await run('snapshot', 'save', 'before')
  const outcome = await run(...argv)
  expect([outcome.code, outcome.err]).toEqual([code, expect.stringContaining(message)])
})
