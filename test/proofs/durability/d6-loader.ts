import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { NewerFormat } from '../../../src/adapters/storage/files.ts'
import type { StorageNotice } from '../../../src/adapters/storage/notice.ts'
import { type Recovered, recover } from '../../../src/adapters/storage/recovery.ts'
import { SetAside } from '../../../src/adapters/storage/set-aside.ts'
import { open, put, testAssumptions, testService, texts } from '../../support/disk-emulator.ts'
import { unsynced } from '../../support/mortal-files.ts'
import { type Figure, none, type Proof, tried } from '../proof.ts'
import { type Damage, damaged, damagesOf, inWords } from './d6-damage.ts'
import { type Crashed, crashedEmulator, HALF_WAY, stateOf } from './d6-state.ts'
import { MemoryFiles } from './memory-files.ts'

/** Every n-th cut and flip is loaded (`tried`); every n-th of these is also used for a restart on the real disk (`livedWith`). */
const STRIDES = {
  short: { tried: 797, livedWith: 8 },
  long: { tried: 1, livedWith: 400 },
}

/** A path in memory, so that the paths in messages are known. */
const FILE = '/data/sandbox.json'
const CONTEXT = { service: testService, assumptions: testAssumptions, strict: false }

/** The number of each fault that are printed. */
const SHOWN = 5

/** The faults that break the promise. */
type Fault = 'crash' | 'silent' | 'no prefix' | 'no place' | 'destroyed'

/** D6: the files of sandboxes with three histories, each with every possible cut and every flipped bit. */
export const d6: Proof = {
  id: 'D6',
  promise:
    'A damaged state file loses no data; a damaged journal gives an exact prefix of the state, or a refusal that names the place, and never a silent gap.',
  run: async (scale, say) => {
    const folder = mkdtempSync(join(tmpdir(), 'workspace-proof-'))
    const tally = new Tally(say)
    try {
      for (const halfWay of HALF_WAY) {
        mkdirSync(join(folder, halfWay))
        const crashed = await crashedEmulator(join(folder, halfWay, 'sandbox.json'), halfWay)
        for (const [name, content] of crashed.files) {
          tally.files.push(`${name} ${content.length} bytes`)
          for (const damage of damagesOf(name, content.length, STRIDES[scale].tried)) {
            tally.add(damage, await load(crashed, damage))
            if (tally.tried % STRIDES[scale].livedWith === 0)
              tally.live(await goesOn(crashed, damage, folder, say))
          }
          say(`D6: ${name}, half way ${halfWay}: done, ${tally.tried} damages so far`)
        }
      }
      return tally.figures()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

class Tally {
  readonly files: string[] = []
  tried = 0
  readonly #say: (line: string) => void
  readonly #faults = new Map<Fault, number>()
  #said = 0
  #lived = 0
  #stuck = 0

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  add(damage: Damage, { fault, said }: Loaded): void {
    this.tried += 1
    if (said) this.#said += 1
    if (fault === undefined) return
    const times = (this.#faults.get(fault) ?? 0) + 1
    this.#faults.set(fault, times)
    if (times <= SHOWN) this.#say(`D6: ${fault}: ${inWords(damage)}`)
  }

  live(goesOn: boolean): void {
    this.#lived += 1
    if (!goesOn) this.#stuck += 1
  }

  figures(): Figure[] {
    const count = (fault: Fault): number => this.#faults.get(fault) ?? 0
    return [
      tried('cuts and flipped bits', `${this.tried} in ${this.files.join(', ')}`),
      tried('of these reported to the user', this.#said),
      tried('of these used for a restart on the real disk', this.#lived),
      none('loads that threw', count('crash')),
      none('sandboxes that are no prefix of the state', count('no prefix')),
      none('sandboxes that lack data without a message', count('silent')),
      none('messages that name no file and place', count('no place')),
      none('contents that no longer exist', count('destroyed')),
      none('sandboxes that could not continue', this.#stuck),
    ]
  }
}

interface Loaded {
  readonly fault?: Fault
  readonly said: boolean
}

/** Loads the files in memory, one of them damaged. */
async function load(crashed: Crashed, damage: Damage): Promise<Loaded> {
  const memory = new MemoryFiles([...crashed.files].map(([name, content]) => [`/data/${name}`, content]))
  const path = `/data/${damage.file}`
  const broken = damaged(memory.read(path) as Buffer, damage)
  memory.contents.set(path, broken)
  const notices: StorageNotice[] = []
  let found: Recovered | undefined
  try {
    const aside = new SetAside(memory, FILE, (notice) => void notices.push(notice))
    found = await recover(CONTEXT, aside)
  } catch (error) {
    // A flipped bit can increase the version of the format; such a file is refused, and all files stay in place.
    if (error instanceof NewerFormat && error.message.startsWith(`${path} has the format`))
      return { said: true }
    return { fault: 'crash', said: false }
  }
  // An accepted edit is reported later, by the first check of the file.
  const said = notices.length > 0 || found?.file === 'edited'
  const fault =
    faultOf({ damage, broken }, crashed, found, notices) ??
    (isThere(memory, broken, notices) ? undefined : 'destroyed')
  return { said, ...(fault && { fault }) }
}

function faultOf(
  { damage, broken }: { readonly damage: Damage; readonly broken: Buffer },
  { states, edited }: Crashed,
  found: Recovered | undefined,
  notices: readonly StorageNotice[],
): Fault | undefined {
  const isSilent = notices.length === 0
  if (found === undefined) return isSilent ? 'silent' : placeFault(damage, notices)
  const state = stateOf(found.loaded.state.store)
  const at = states.indexOf(state)
  // The other files contain everything that one damaged file has lost, so the last state is always correct.
  if (at === states.length - 1) return undefined
  // If only the state file is damaged, the previous one and the journal contain everything.
  if (damage.file === basename(FILE)) return 'no prefix'
  // If the previous checkpoint is damaged, only the edited file can be loaded.
  const isAlone = state === edited && damage.file.endsWith('.previous')
  if (at === -1 && !isAlone) return 'no prefix'
  // A journal cut at the end of a line may lack the entry about the state file; this cannot be distinguished from an edit.
  const endsWithLine = damage.bit === undefined && broken.at(-1) === 0x0a
  if (!isSilent) return endsWithLine ? undefined : placeFault(damage, notices)
  // A journal cut at the end of a line cannot show that there were more lines.
  return damage.bit === undefined && damage.file === `${basename(FILE)}.journal` ? undefined : 'silent'
}

/**
 * Some message must name the file and a byte or line of it, or the next file of the journal, which reveals the gap. For a
 * checkpoint that does not match its digest, the place is unknown.
 */
function placeFault({ file }: Damage, notices: readonly StorageNotice[]): Fault | undefined {
  if (
    file.endsWith('.previous') &&
    notices.some(({ message }) => message.includes(`/data/${file}, is missing or damaged`))
  )
    return
  const own = file.replaceAll('.', '\\.')
  const place = new RegExp(`/data/${own}(?:, byte \\d+: |:\\d+:)|/data/.*\\.journal, byte \\d+: `)
  return notices.some(({ message }) => place.test(message)) ? undefined : 'no place'
}

/** Whether the damaged content still exists, in place or set aside; if the last line is torn, the content before that line. */
function isThere(memory: MemoryFiles, broken: Buffer, notices: readonly StorageNotice[]): boolean {
  const torn = notices.some(({ event }) => event === 'journal_torn')
  const content = torn ? broken.subarray(0, broken.lastIndexOf(0x0a) + 1) : broken
  return [...memory.contents.values()].some((each) => each.equals(content) || each.equals(broken))
}

/** Starts on the damaged files, writes, stops, and starts again: the written note must exist. */
async function goesOn({ files }: Crashed, damage: Damage, parent: string, say: (line: string) => void) {
  const folder = mkdtempSync(join(parent, 'damaged-'))
  for (const [name, content] of files)
    writeFileSync(join(folder, name), name === damage.file ? damaged(content, damage) : content)
  const file = join(folder, 'sandbox.json')
  try {
    const first = await open(file, { files: unsynced })
    put(first.sandbox, 'later', 'life goes on')
    const before = texts(first.sandbox)
    await first.persistence.close()
    const second = await open(file, { files: unsynced })
    const after = texts(second.sandbox)
    await second.persistence.close()
    return JSON.stringify(before) === JSON.stringify(after) && second.notices.length === 0
  } catch (error) {
    if (error instanceof NewerFormat) return true
    say(`D6: cannot go on after ${inWords(damage)}: ${error}`)
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
