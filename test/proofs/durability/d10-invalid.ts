import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recover } from '../../../src/adapters/storage/recovery.ts'
import { SetAside } from '../../../src/adapters/storage/set-aside.ts'
import { same } from '../../../src/core/json.ts'
import { Chance } from '../../../src/core/random.ts'
import { change } from '../../../src/core/sandboxes/change.ts'
import { type Note, open, put, testAssumptions, testService } from '../../support/disk-emulator.ts'
import { unsynced } from '../../support/mortal-files.ts'
import { atLeast, type Figure, none, type Proof, tried } from '../proof.ts'
import { BESIDES, type Damaged, invalidate, type Loose } from './d10-damage.ts'
import { MemoryFiles } from './memory-files.ts'

const TRIALS = { short: 100, long: 20_000 }
const SEED = 20_260_311
const NOTES = 30

const FILE = '/data/sandbox.json'
const CONTEXT = { service: testService, assumptions: testAssumptions, strict: false }

interface Tally {
  broken: number
  setAside: number
  lost: number
  wrong: number
  unkept: number
}

/** D10: state files with some invalid records, and without a journal or previous file to read them from. */
export const d10: Proof = {
  id: 'D10',
  promise:
    'An invalid record and the records that refer to it are set aside, named and kept; all other records are loaded.',
  run: async (scale, say) => {
    const text = await documentText()
    const tally: Tally = { broken: 0, setAside: 0, lost: 0, wrong: 0, unkept: 0 }
    for (let n = 0; n < TRIALS[scale]; n++) {
      const faults = tally.lost + tally.wrong + tally.unkept
      await trial(text, new Chance(SEED, n), tally)
      if (tally.lost + tally.wrong + tally.unkept > faults) say(`D10: seed ${SEED}, trial ${n}`)
    }
    return figures(TRIALS[scale], tally)
  },
}

function figures(trials: number, { broken, setAside, lost, wrong, unkept }: Tally): Figure[] {
  return [
    tried('state files', trials),
    tried('records and fields made invalid', `${broken}, of ${BESIDES.length + 2} kinds`),
    atLeast('set aside, with those that refer to them', setAside, broken),
    none('files with a valid record that was not loaded', lost),
    none('files with a valid record that was set aside, or an invalid one that was not', wrong),
    none(
      'files with a record that was set aside and is not kept unchanged with its place and reason',
      unkept,
    ),
  ]
}

/** A state file with notes, a schedule and idempotency records; two thirds of the notes refer to another note. */
async function documentText(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-proof-'))
  try {
    const file = join(folder, 'sandbox.json')
    const { sandbox, persistence } = await open(file, { files: unsynced })
    for (let n = 0; n < NOTES; n++)
      put(sandbox, `note-${n}`, `text ${n}`, n % 3 === 0 ? {} : { parent_id: `note-${n - 1}` })
    for (let n = 0; n < 3; n++)
      change(sandbox, ({ schedule, now }) =>
        schedule({
          kind: 'shout',
          ref: `notes/note-${n}`,
          due: now + 60_000,
          urgency: 'work',
          description: 'shout',
        }),
      )
    await persistence.close()
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function trial(text: string, chance: Chance, tally: Tally): Promise<void> {
  const document = JSON.parse(text)
  const expected = invalidate(document, chance)
  tally.broken += expected.broken
  const broken = JSON.stringify(document, null, chance.pick([0, 2]))
  const memory = new MemoryFiles([[FILE, Buffer.from(broken)]])
  const found = await recover(CONTEXT, new SetAside(memory, FILE, () => {}))
  const kept = JSON.parse(memory.contents.get(`${FILE}.invalid-1`)?.toString() ?? '[]')
  tally.setAside += kept.length
  const rows = [...(found?.loaded.state.store.rows('notes').values() ?? [])] as Note[]
  compare(expected, rows, kept, JSON.parse(broken), tally)
}

function compare(
  expected: Damaged,
  rows: readonly Note[],
  kept: Loose[],
  document: Loose,
  tally: Tally,
): void {
  if (!same(rows.map(({ id }) => id).sort(), [...expected.valid].sort())) tally.lost += 1
  const pointers = kept.map(({ pointer }) => pointer).sort()
  if (!same(pointers, [...expected.pointers].sort())) tally.wrong += 1
  const isKept = kept.every(
    ({ pointer, reason, record }) => reason !== '' && same(record, valueAt(document, pointer)),
  )
  if (!isKept) tally.unkept += 1
}

function valueAt(document: Loose, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((value, key) => value?.[key], document)
}
