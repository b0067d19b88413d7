import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '../client.ts'
import { type Figure, none, type Proof, tried } from '../proof.ts'
import { comesTrue, pause, Stage, type Started } from '../stage.ts'
import { byRenaming, emptiedFirst, inHalves, inPlace, type Save, tooSlowly } from './saves.ts'

const EDITS = { short: 3, long: 100 }

// biome-ignore lint/suspicious/noExplicitAny: documents are edited into every shape, also wrong ones.
type Loose = any

/** The outcome of an edit: applied to the sandbox, or refused, reported, and kept byte for byte as a separate file. */
type Outcome = 'taken' | 'refused' | 'said'

interface Kind {
  readonly name: string
  readonly save: Save
  /** `said`: either accepted, or refused and reported. */
  readonly expected: Outcome
  /** Creates the text to save. @param id the page that the edit adds or changes */
  readonly text: (document: Loose, id: string) => string
  /** Whether the API changes a record after the file was read and before it is saved. */
  readonly conflicts?: boolean
}

const adding = (document: Loose, id: string): string => {
  document.collections.pages.push({ ...PAGE, id })
  return JSON.stringify(document, null, 2)
}
const wrong = (document: Loose, id: string): string => {
  document.collections.pages.push({ ...PAGE, id, name: 7 })
  return JSON.stringify(document, null, 2)
}
const changing = (document: Loose, id: string): string => {
  const page = document.collections.pages.find((each: { id: string }) => each.id === id)
  page.name = EDITED
  return JSON.stringify(document, null, 2)
}
const half = (document: Loose, id: string): string => {
  const text = adding(document, id)
  return text.slice(0, text.length >> 1)
}

const [MADE, BY_THE_API, EDITED] = ['made', 'changed by the API', 'edited']
const PAGE = { name: MADE, teamspace_id: 'ts-a', scope: 'teamspace', created_at: '2026-01-01T00:00:00.000Z' }

const KINDS: readonly Kind[] = [
  { name: 'in place', save: inPlace, expected: 'taken', text: adding },
  { name: 'by renaming', save: byRenaming, expected: 'taken', text: adding },
  { name: 'no JSON, in place', save: inPlace, expected: 'refused', text: half },
  { name: 'in halves', save: inHalves, expected: 'taken', text: adding },
  { name: 'wrong, by renaming', save: byRenaming, expected: 'refused', text: wrong },
  { name: 'emptied first', save: emptiedFirst, expected: 'taken', text: adding },
  {
    name: 'outdated by the API, by renaming',
    save: byRenaming,
    expected: 'refused',
    text: changing,
    conflicts: true,
  },
  { name: 'wrong, in place', save: inPlace, expected: 'refused', text: wrong },
  { name: 'no JSON, by renaming', save: byRenaming, expected: 'refused', text: half },
  { name: 'too slowly', save: tooSlowly, expected: 'said', text: adding },
]

interface Seen {
  lost: number
  unkept: number
  wrong: number
  readonly taken: Set<string>
}

export const d5: Proof = {
  id: 'D5',
  promise:
    'No hand edit of the state file while the emulator runs is lost without a message, and none stops the emulator.',
  run: async (scale, say) => {
    const edits = EDITS[scale]
    await using stage = new Stage()
    const file = join(stage.folder, 'data', 'default.json')
    const server = stage.start()
    const port = await server.port
    const traffic = new Traffic(port)
    const client = new Client(port)
    const seen: Seen = { lost: 0, unkept: 0, wrong: 0, taken: new Set() }
    for (let n = 0; n < edits; n++) {
      const kind = KINDS[n % KINDS.length] as Kind
      await new Attempt({ server, client, file, say }, kind, `edit-${n}`).run(seen)
      if ((n + 1) % 20 === 0) say(`D5: ${n + 1} of ${edits} edits`)
    }
    const polls = await traffic.end()
    client.close()
    const crashed = server.child.exitCode !== null || server.child.signalCode !== null
    await server.stop()
    const traces = server.log.filter(({ level, message }) => level === 'raw' || /defect/.test(message))
    for (const { message } of traces) say(`D5: it said: ${message}`)
    const missing = await missingAfterRestart(stage, [...seen.taken])
    return figures(edits, polls, seen, { crashes: Number(crashed), traces: traces.length, missing })
  },
}

function figures(
  edits: number,
  polls: number,
  seen: Seen,
  after: { crashes: number; traces: number; missing: number },
): Figure[] {
  return [
    tried('edits while running', `${edits}: ${KINDS.map(({ name }) => name).join('; ')}`),
    tried('accepted edits', seen.taken.size),
    tried('polls of a client during the edits', polls),
    none('edits lost without a message', seen.lost),
    none('refused edits that were not kept', seen.unkept),
    none('valid edits that were refused, or invalid ones that were accepted', seen.wrong),
    none('crashes', after.crashes),
    none('lines on stderr that are no log entry, or report an internal error', after.traces),
    none('accepted edits missing after a restart', after.missing),
  ]
}

interface Scene {
  readonly server: Started
  readonly client: Client
  readonly file: string
  readonly say: (line: string) => void
}

class Attempt {
  readonly #scene: Scene
  readonly #kind: Kind
  readonly #id: string
  readonly #said: number

  constructor(scene: Scene, kind: Kind, id: string) {
    this.#scene = scene
    this.#kind = kind
    this.#id = id
    this.#said = scene.server.log.length
  }

  async run(seen: Seen): Promise<void> {
    const { client, file, say } = this.#scene
    const { name, save, text, expected, conflicts } = this.#kind
    if (conflicts === true) await this.#prepareConflict()
    const edit = text(JSON.parse(readFileSync(file, 'utf8')), this.#id)
    if (conflicts === true) await client.put(this.#path, { ...PAGE, name: BY_THE_API })
    await save(file, edit)
    const outcome = await this.#outcome()
    if (outcome === 'taken') seen.taken.add(this.#id)
    // The next edit must start from a file that the emulator has written again.
    await comesTrue(() => ![edit, ''].includes(read(file)))
    if (outcome === undefined) seen.lost += 1
    else if (expected !== 'said' && outcome !== expected) seen.wrong += 1
    const kept = this.#isKept(outcome, edit)
    if (!kept) seen.unkept += 1
    if (outcome === undefined || !kept || (expected !== 'said' && outcome !== expected))
      say(`D5: ${this.#id}, ${name}: expected ${expected}, was ${outcome}, ${kept ? '' : 'not '}kept`)
  }

  get #path(): string {
    return `/__emulator/state/pages/${this.#id}`
  }

  /** Waits until the record is in the file, before the file is edited. */
  async #prepareConflict(): Promise<void> {
    await this.#scene.client.put(this.#path, PAGE)
    await comesTrue(() => readFileSync(this.#scene.file, 'utf8').includes(`"${this.#id}"`))
  }

  async #outcome(): Promise<'taken' | 'refused' | undefined> {
    let outcome: 'taken' | 'refused' | undefined
    await comesTrue(async () => {
      if (await this.#isThere()) outcome = 'taken'
      else if (this.#notices('edit_refused').length > 0) outcome = 'refused'
      return outcome !== undefined
    })
    return outcome
  }

  async #isThere(): Promise<boolean> {
    const page = (await this.#scene.client.get(this.#path).catch(() => undefined)) as
      | { name: string }
      | undefined
    return page?.name === (this.#kind.conflicts === true ? EDITED : MADE)
  }

  #isKept(outcome: Outcome | undefined, edit: string): boolean {
    if (outcome !== 'refused') return true
    const texts = this.#notices('edit_refused').map(({ kept = '' }) => read(kept))
    // If the file was saved too slowly, only its first half was read and kept.
    return texts.some((text) => text !== '' && (text === edit || this.#kind.expected === 'said'))
  }

  #notices(event: string) {
    return this.#scene.server.log.slice(this.#said).filter((each) => each.event === event)
  }
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** A client that polls without a pause. */
class Traffic {
  readonly #client: Client
  #polls = 0
  readonly #running: Promise<void>
  #goesOn = true

  constructor(port: number) {
    this.#client = new Client(port)
    this.#running = this.#run()
    this.#running.catch(() => {})
  }

  /** Stops it. @returns the number of polls */
  async end(): Promise<number> {
    this.#goesOn = false
    // A crash is counted where the process is checked.
    await this.#running.catch(() => {})
    this.#client.close()
    return this.#polls
  }

  async #run(): Promise<void> {
    while (this.#goesOn) {
      // Most polls are refused by the rate limit, which is a change of a rate window as well.
      await this.#client.get('/v1/pages').catch(() => {})
      this.#polls += 1
      await pause(10)
    }
  }
}

async function missingAfterRestart(stage: Stage, expected: readonly string[]): Promise<number> {
  const server = stage.start()
  const client = new Client(await server.port)
  const there = new Set(await client.ids('pages'))
  client.close()
  await server.stop()
  return expected.filter((id) => !there.has(id)).length
}
