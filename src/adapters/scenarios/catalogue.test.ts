import { expect, test } from 'vitest'
import { ScenarioCatalogue } from './catalogue.ts'
import type { ScriptGeneration } from './generation.ts'
import type { Candidate } from './load.ts'

/** Scripts that only record whether they have been retired. */
function scripts() {
  const state = { retired: false }
  const retire = async () => {
    state.retired = true
  }
  return { state, generation: { retire, close: retire } as unknown as ScriptGeneration }
}

function candidate(name: string, on: readonly string[] = []): Candidate {
  return { name, file: `/${name}.ts`, data: { faults: [], stubs: [], timeline: [], on }, problems: [] }
}

function broken(name: string, message = 'is broken'): Candidate {
  return { name, file: `/${name}.ts`, problems: [{ file: `/${name}.ts`, message }] }
}

test('scripts are kept as long as one of their functions is in force', () => {
  const snapshotStore = new ScenarioCatalogue()
  const [first, second, third] = [scripts(), scripts(), scripts()]
  snapshotStore.swap([candidate('a', ['x']), candidate('b', ['x'])], first.generation)
  snapshotStore.swap([candidate('a', ['x']), broken('b')], second.generation)
  expect([first.state.retired, second.state.retired]).toEqual([false, false])
  expect(snapshotStore.get('b')?.scripts).toBe(first.generation)
  snapshotStore.swap([candidate('a'), candidate('b', ['x'])], third.generation)
  expect([first.state.retired, second.state.retired, third.state.retired]).toEqual([true, true, false])
})

test('scripts without a function in force are retired at once', () => {
  const snapshotStore = new ScenarioCatalogue()
  const [data, bad] = [scripts(), scripts()]
  snapshotStore.swap([candidate('a')], data.generation)
  snapshotStore.swap([broken('a')], bad.generation)
  expect([data.state.retired, bad.state.retired]).toEqual([true, true])
  expect(snapshotStore.get('a')?.scenario.generation).toBe(1)
})

test('the generation increases when a scenario comes into force, changes or is removed', () => {
  const snapshotStore = new ScenarioCatalogue()
  const swap = (...candidates: Candidate[]) => {
    const { generation, changed, broken } = snapshotStore.swap(candidates, scripts().generation)
    return [generation, changed, broken.map(({ name }) => name)]
  }
  expect(swap()).toEqual([0, false, []])
  expect(swap(candidate('a'), broken('b'))).toEqual([1, true, ['b']])
  expect(swap(broken('a'), broken('b'))).toEqual([1, false, ['a']])
  expect(swap(broken('a', 'is broken otherwise'))).toEqual([1, false, ['a']])
  expect(swap(candidate('b'))).toEqual([2, true, []])
  expect(snapshotStore.get('a')).toBeUndefined()
  expect(swap()).toEqual([3, true, []])
  expect(snapshotStore.list()).toEqual([])
})
