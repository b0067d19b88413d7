import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { put, startingState, texts } from '../../../test/support/disk-emulator.ts'
import { type How, MortalFiles } from '../../../test/support/mortal-files.ts'
import { type SnapshotEmulator, shelved, snapshotDirectory } from '../../../test/support/snapshot-store.ts'

/** The text of the one note in each snapshot, by name. */
type Contents = Record<string, string>

interface Model {
  /** The snapshots after the last step that was acknowledged. */
  acknowledged: Contents
  /** The snapshots if the step in progress at the end took effect. */
  possible: Contents
}

/** One run of a snapshot store: new snapshots, replaced ones, one deleted. @param attempt does one step */
async function live(
  { sandbox, snapshots, snapshotStore }: SnapshotEmulator,
  model: Model,
  attempt = (work: () => Promise<unknown>) => work(),
): Promise<void> {
  const step = async (after: Contents, work: () => Promise<unknown>): Promise<void> => {
    model.possible = after
    await attempt(work)
    model.acknowledged = after
  }
  const save = (name: string, text: string) => {
    put(sandbox, 'a', text)
    return step({ ...model.acknowledged, [name]: text }, () => snapshots.save(name))
  }
  const start = await startingState({ s: 'start' })
  await attempt(() => snapshotStore.begin(start))
  await save('base', 'one')
  await save('other', 'two')
  await save('base', 'three')
  const { other: _, ...rest } = model.acknowledged
  await step(rest, () => snapshots.delete('other'))
  await save('other', 'four')
}

async function contents({ snapshots, sandbox }: SnapshotEmulator): Promise<Contents> {
  const found: Contents = {}
  for (const { name, problem } of await snapshots.list()) {
    expect(problem).toBeNull()
    await snapshots.restore(name)
    found[name] = texts(sandbox).a ?? ''
  }
  return found
}

async function dies(at: number, how: How): Promise<{ mortal: MortalFiles; ended: boolean }> {
  const directory = snapshotDirectory()
  const mortal = new MortalFiles(at, how)
  const model: Model = { acknowledged: {}, possible: {} }
  let ended = false
  try {
    await live(await shelved(directory, {}, mortal.files), model)
  } catch {
    ended = true
  }
  const again = await shelved(directory)
  const found = await contents(again)
  const acceptable = [model.acknowledged, model.possible].map((each) => JSON.stringify(sorted(each)))
  expect(acceptable, `${how} ${at}`).toContain(JSON.stringify(found))
  expect([at, leftovers(directory)]).toEqual([at, []])
  if (Object.keys(model.acknowledged).length > 0) expect(await again.snapshots.start()).toBeDefined()
  return { mortal, ended }
}

function sorted(contents: Contents): Contents {
  return Object.fromEntries(Object.entries(contents).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function leftovers(directory: string): string[] {
  const names = readdirSync(join(directory, '../../..'), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /\.(tmp|corrupt-|orphaned-)/.test(name))
}

test('D3 a process that is killed before any of its file operations leaves every snapshot whole, old or new', async () => {
  let at = 1
  while ((await dies(at, 'before')).ended) at++
  expect(at).toBeGreaterThan(20)
})

test('D3 a process that is killed half way through any of its writes leaves every snapshot whole, old or new', async () => {
  const { writes } = (await dies(Number.POSITIVE_INFINITY, 'half')).mortal
  expect(writes.length).toBeGreaterThan(4)
  for (const at of writes) await dies(at, 'half')
})

test('D3 after an error of any file operation the same step succeeds when it is tried again', async () => {
  const { steps } = (await dies(Number.POSITIVE_INFINITY, 'error')).mortal
  let errors = 0
  for (let at = 1; at <= steps; at++) {
    const directory = snapshotDirectory()
    const model: Model = { acknowledged: {}, possible: {} }
    const emulator = await shelved(directory, {}, new MortalFiles(at, 'error').files)
    await live(emulator, model, async (work) => {
      try {
        await work()
      } catch (error) {
        errors += 1
        expect(String(error)).toContain('ENOSPC')
        // A snapshot that was deleted before the error is no longer found.
        await work().catch((again) => expect(again).toMatchObject({ code: 'not_found' }))
      }
    })
    const found = [await contents(emulator), await contents(await shelved(directory))]
    expect([at, ...found]).toEqual([at, model.acknowledged, model.acknowledged])
    expect([at, leftovers(directory)]).toEqual([at, []])
  }
  expect(errors).toBeGreaterThan(steps / 2)
})
