import { expect, test } from 'vitest'
import { broken, type Proof } from '../proof.ts'
import { t2 } from '../time/t2-host-clock.ts'
import { d1 } from './d1-kill.ts'
import { d3 } from './d3-io.ts'
import { d4 } from './d4-lock.ts'
import { d5 } from './d5-edits.ts'
import { d6 } from './d6-loader.ts'
import { d7 } from './d7-signals.ts'
import { d8 } from './d8-one-writer.ts'
import { d9 } from './d9-ids.ts'
import { d10 } from './d10-invalid.ts'
import { d11 } from './d11-backups.ts'

/** The figures of a short run that do not hold, and its output. */
async function wrongIn(proof: Proof): Promise<readonly string[]> {
  const said: string[] = []
  const wrong = broken(await proof.run('short', (line) => said.push(line)))
  return wrong.length === 0 ? [] : [...wrong, ...said]
}

test('D1 no acknowledged write is lost, duplicated or unreported when the process is killed while writing', {
  tags: ['R280', 'R233'],
}, async () => {
  expect(await wrongIn(d1)).toEqual([])
})

test('D3 a kill or a system error in any file operation causes no loss and no crash', async () => {
  expect(await wrongIn(d3)).toEqual([])
})

test('D4 of simultaneous starts on one directory exactly one wins, also with the lock of a killed process', async () => {
  expect(await wrongIn(d4)).toEqual([])
})

test('D5 hand edits of every kind are accepted, or refused and kept, and the emulator keeps running', async () => {
  expect(await wrongIn(d5)).toEqual([])
})

test('D6 a cut or flipped bit in a log or state file gives an earlier state, or a refusal that names the place', async () => {
  expect(await wrongIn(d6)).toEqual([])
})

test('D7 a signal stops the process in order and in time, and deletes nothing', async () => {
  expect(await wrongIn(d7)).toEqual([])
})

test('D8 only one of several isolated processes writes, and one that lost the folder acknowledges nothing', async () => {
  expect(await wrongIn(d8)).toEqual([])
})

test('D9 no create replaces a record, even if ids are beyond the counters, and through restarts', async () => {
  expect(await wrongIn(d9)).toEqual([])
})

test('D10 exactly the invalid records of a state file are set aside, named and kept', async () => {
  expect(await wrongIn(d10)).toEqual([])
})

test('D11 an unedited state file of any age restores the sandbox, and the state that it replaces is kept', async () => {
  expect(await wrongIn(d11)).toEqual([])
})

test('T2 virtual time continues however the clock of the machine is changed', async () => {
  expect(await wrongIn(t2)).toEqual([])
})
