import { readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { put, texts } from '../../../test/support/disk-emulator.ts'
import { opened, said, stateFile } from '../../../test/support/state-files.ts'
import { ExitBudget } from './checkpoint-schedule.ts'
import { type Files, nodeFiles } from './files.ts'

/** A budget without any time. */
const noTime = () => new ExitBudget(() => 0, -1)

/** File operations that record which files are created. */
function counting() {
  const made: string[] = []
  const files: Files = {
    ...nodeFiles,
    open: (path, how) => {
      if (how === 'wx' && !path.includes('.lock')) made.push(path)
      return nodeFiles.open(path, how)
    },
  }
  return { made, files }
}

test('a sandbox without changes since its last checkpoint is closed without another one', async () => {
  const file = stateFile()
  const { made, files } = counting()
  const first = await opened(file, { files, start: { a: 'one' } })
  put(first.sandbox, 'b', 'two')
  await first.persistence.checkpointNow()
  made.length = 0
  await first.persistence.close()
  expect(made).toEqual([])
  const second = await opened(file, { files })
  made.length = 0
  await second.persistence.close()
  expect(made).toEqual([])
})

test.each<[string, (sandbox: Awaited<ReturnType<typeof opened>>['sandbox']) => unknown]>([
  ['a commit', (sandbox) => put(sandbox, 'b', 'two')],
  ['a request', (sandbox) => sandbox.log.count()],
  ['a rate window', (sandbox) => sandbox.limiter.fill('key', { limit: 5, window: 60_000 }, 1_000, 2)],
])('close() writes a last checkpoint after %s', async (_what, change) => {
  const file = stateFile()
  const { sandbox, persistence } = await opened(file, { start: { a: 'one' } })
  change(sandbox)
  const whole = JSON.parse(JSON.stringify(sandbox.document()))
  await persistence.close()
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject(whole)
})

test('if there is no time for the last checkpoint, file and journal together have everything', async () => {
  const file = stateFile()
  const first = await opened(file, { start: { a: 'one' } })
  const before = statSync(file).ino
  put(first.sandbox, 'b', 'two')
  const budget = noTime()
  await first.persistence.close(budget)
  expect(statSync(file).ino).toBe(before)
  expect(budget.message).toContain(`${file}: no last checkpoint was written`)
  const second = await opened(file)
  expect(texts(second.sandbox)).toEqual({ a: 'one', b: 'two' })
  // Nothing has changed since the start, but the file still lacks the commit.
  await second.persistence.close(noTime())
  const third = await opened(file)
  await third.persistence.close()
  expect(JSON.parse(readFileSync(file, 'utf8')).collections.notes).toHaveLength(2)
  expect([first, second, third].flatMap(said)).toEqual([])
})

test('a checkpoint in progress is given up if there is no time for it', async () => {
  const file = stateFile()
  let pieces = 0
  let begun: () => void = () => {}
  const files: Files = {
    ...nodeFiles,
    writeSoon: (to, bytes, at) => {
      pieces += 1
      begun()
      return nodeFiles.writeSoon(to, bytes, at)
    },
  }
  const first = await opened(file, { files })
  put(first.sandbox, 'a', 'one')
  for (let n = 0; n < 40; n++) put(first.sandbox, `n${n}`, 'x'.repeat(100_000))
  pieces = 0
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const checkpoint = first.persistence.checkpointNow()
  await hasBegun
  await Promise.all([expect(checkpoint).rejects.toThrow('abandoned'), first.persistence.close(noTime())])
  expect(pieces).toBeLessThan(5)
  expect(said(first)).toEqual([])
  const second = await opened(file)
  expect(Object.keys(texts(second.sandbox))).toHaveLength(41)
})

test('a last checkpoint that takes longer than expected is given up when the time is over', async () => {
  const file = stateFile()
  let writing: () => void = () => {}
  const files: Files = {
    ...nodeFiles,
    writeSoon: (to, bytes, at) => {
      writing()
      return nodeFiles.writeSoon(to, bytes, at)
    },
  }
  const { sandbox, persistence, timers, notices } = await opened(file, { files })
  const before = statSync(file).ino
  put(sandbox, 'a', 'one')
  const budget = new ExitBudget(() => 0)
  writing = () => timers.fire()
  await persistence.close(budget)
  expect([statSync(file).ino, notices]).toEqual([before, []])
  expect(budget.message).toContain(file)
  expect(texts((await opened(file)).sandbox)).toEqual({ a: 'one' })
})

test('the time of an exit is shared: checkpoints in progress and elapsed time both count', () => {
  let now = 5_000
  const budget = new ExitBudget(() => now)
  const first = budget.take('a', 600)
  expect(budget.take('b', 600)).toBeUndefined()
  const third = budget.take('c', 400)
  expect([first, third]).not.toContain(undefined)
  expect(first?.ms).toBe(1_000)
  first?.end(false)
  now += 300
  expect(budget.take('d', 200)).toBeDefined()
  expect(budget.take('e', 200)).toBeUndefined()
  third?.end(true)
  expect(budget.message).toMatch(
    /^b, e, c: no last checkpoint was written, because that would have taken more than 1 s in total\./,
  )
  expect(new ExitBudget().message).toBeUndefined()
})
