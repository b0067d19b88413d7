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

/** What a short run has shown to be otherwise than promised, and what it has said of that. */
async function wrongIn(proof: Proof): Promise<readonly string[]> {
  const said: string[] = []
  const wrong = broken(await proof.run('short', (line) => said.push(line)))
  return wrong.length === 0 ? [] : [...wrong, ...said]
}

test('D1 nothing acknowledged is lost, doubled or untold when the process is killed while writing', {
  tags: ['R280', 'R233'],
}, async () => {
  expect(await wrongIn(d1)).toEqual([])
})

test('D3 no file operation in which the process dies, or that the system refuses, loses or crashes anything', async () => {
  expect(await wrongIn(d3)).toEqual([])
})

test('D4 of simultaneous starts on one directory exactly one wins, also over the lock of a killed process', async () => {
  expect(await wrongIn(d4)).toEqual([])
})

test('D5 hand edits of every kind are taken, or refused and kept, and stop nothing', async () => {
  expect(await wrongIn(d5)).toEqual([])
})

test('D6 a log or a state file that is cut or has a bit flipped gives a prefix or a refusal that names the place', async () => {
  expect(await wrongIn(d6)).toEqual([])
})

test('D7 a signal ends the process in order and in time, and deletes nothing', async () => {
  expect(await wrongIn(d7)).toEqual([])
})

test('D8 of processes that cannot see each other one writes, and a process that has lost the folder acknowledges nothing', async () => {
  expect(await wrongIn(d8)).toEqual([])
})

test('D9 no create replaces a record, whatever brings ids ahead of the counters, through restarts', async () => {
  expect(await wrongIn(d9)).toEqual([])
})

test('D10 of a state file with invalid records exactly those are set aside, named and kept', async () => {
  expect(await wrongIn(d10)).toEqual([])
})

test('D11 a state file of any age that nobody has edited takes the sandbox back, and what it replaces is kept', async () => {
  expect(await wrongIn(d11)).toEqual([])
})

test('T2 virtual time goes on whatever is done to the clock of the machine', async () => {
  expect(await wrongIn(t2)).toEqual([])
})
