import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { folder, type Opened, open, put, texts } from '../../../test/support/disk-emulator.ts'
import { type How, MortalFiles } from '../../../test/support/mortal-files.ts'

interface Model {
  /** The notes after the last acknowledged commit: a restart must find them. */
  acknowledged: Record<string, string>
  /** The notes if the commit in progress at the end is in the journal as well: a restart may find them. */
  possible: Record<string, string>
}

async function live({ sandbox, persistence }: Opened, model: Model): Promise<void> {
  const commit = (id: string, text: string | undefined): void => {
    model.possible = texts(sandbox)
    if (text === undefined) delete model.possible[id]
    else model.possible[id] = text
    put(sandbox, id, text)
    model.acknowledged = texts(sandbox)
  }
  commit('a', 'one')
  commit('b', 'two')
  persistence.checkpointNow()
  commit('c', 'after a checkpoint')
  await nextTurn()
  commit('a', undefined)
  persistence.checkpointNow()
  commit('d', 'after another')
  commit('b', 'changed')
  commit('e', 'last')
}

async function survivors(file: string) {
  const again = await open(file)
  const notes = texts(again.sandbox)
  put(again.sandbox, 'z', 'life goes on')
  again.persistence.close()
  const third = await open(file)
  expect(texts(third.sandbox)).toEqual({ ...notes, z: 'life goes on' })
  third.persistence.close()
  const left = readdirSync(join(file, '..')).sort()
  expect(left).toEqual(['sandbox.json', 'sandbox.json.journal'])
  return { notes, events: again.notices.map(({ event }) => event) }
}

async function dies(at: number, how: How): Promise<{ mortal: MortalFiles; killed: boolean }> {
  const file = join(folder(onTestFinished), 'sandbox.json')
  const mortal = new MortalFiles(at, how)
  const model: Model = { acknowledged: {}, possible: {} }
  let killed = false
  let emulator: Opened | undefined
  try {
    emulator = await open(file, { files: mortal.files })
    await live(emulator, model)
  } catch {
    killed = true
  }
  emulator?.persistence.close()
  const { notes, events } = await survivors(file)
  const acceptable = [model.acknowledged, model.possible].map((each) => JSON.stringify(each))
  expect(acceptable, `${how} ${at}`).toContain(JSON.stringify(notes))
  const unexpected = events.filter((event) => event !== 'journal_torn')
  expect(unexpected, `${how} ${at}`).toEqual([])
  return { mortal, killed }
}

/** Number of parallel runs. Each has a separate folder and spends most of its time waiting for the disk. */
const LANES = 8

async function each<T>(steps: readonly number[], live: (at: number) => Promise<T>): Promise<T[]> {
  const left = [...steps]
  const results: T[] = []
  const lane = async (): Promise<void> => {
    for (let at = left.shift(); at !== undefined; at = left.shift()) results.push(await live(at))
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return results
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1)

test('D3 a process that is killed before any of its file operations loses no acknowledged commit', async () => {
  const { steps } = (await dies(Number.POSITIVE_INFINITY, 'before')).mortal
  expect(steps).toBeGreaterThan(40)
  const lives = await each(upTo(steps), (at) => dies(at, 'before'))
  expect(lives.filter(({ killed }) => killed).length).toBeGreaterThan(steps / 2)
})

test('D3 a process that is killed half way through any of its writes loses no acknowledged commit', async () => {
  const { writes } = (await dies(Number.POSITIVE_INFINITY, 'half')).mortal
  expect(writes.length).toBeGreaterThan(15)
  await each(writes, (at) => dies(at, 'half'))
})

test('D3 an error of any file operation causes no crash, and every acknowledged commit is on the disk', async () => {
  const { steps } = (await dies(Number.POSITIVE_INFINITY, 'error')).mortal
  const lived = await each(upTo(steps), fails)
  expect(lived.filter(Boolean).length).toBeGreaterThan(steps / 2)
})

/** One run in which one file operation fails. False when the emulator could not start because of it. */
async function fails(at: number): Promise<boolean> {
  const file = join(folder(onTestFinished), 'sandbox.json')
  const { files } = new MortalFiles(at, 'error')
  let emulator: Opened
  try {
    emulator = await open(file, { files })
  } catch (error) {
    expect(String(error)).toContain('ENOSPC')
    await survivors(file)
    return false
  }
  const { sandbox, persistence } = emulator
  for (let n = 0; n < 8; n++) {
    try {
      put(sandbox, `n${n}`, `text ${n}`)
    } catch (error) {
      expect(error).toMatchObject({ code: 'storage_unavailable' })
    }
    try {
      if (n % 2 === 0) persistence.checkpointNow()
    } catch (error) {
      expect(String(error)).toContain('ENOSPC')
    }
  }
  persistence.close()
  const { notes, events } = await survivors(file)
  expect({ at, notes, events }).toEqual({ at, notes: texts(sandbox), events: [] })
  return true
}
