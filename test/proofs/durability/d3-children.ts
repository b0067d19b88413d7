import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client, Refused } from '../client.ts'
import { Stage, type Started, within } from '../stage.ts'
import { HOWS, type How } from './d3-faulty-files.ts'

/** The results of real processes. */
export interface Children {
  lives: number
  /** The number of runs in which the fault occurred. */
  struck: number
  lost: number
  /** Pages that exist although their request was refused. */
  doubled: number
  /** Ends without a signal, or with a stack trace. */
  crashes: number
  unreadable: number
}

/** Pages that a run creates; a snapshot follows each tenth. */
const PAGES = 30

/** The approximate number of disk operations in a run. */
const OPERATIONS = 130

interface Sent {
  readonly acknowledged: string[]
  readonly refused: string[]
}

/**
 * Real processes; in each of them one operation of the file system fails.
 * @param count the number of runs; operations are spread evenly, and the kinds of faults are used in turn
 */
export async function childrenDie(count: number, say: (line: string) => void): Promise<Children> {
  const seen: Children = { lives: 0, struck: 0, lost: 0, doubled: 0, crashes: 0, unreadable: 0 }
  for (let n = 0; n < count; n++) {
    const how = HOWS[n % (HOWS.length - 1)] as How
    const at = 1 + Math.floor(((n + 0.5) * OPERATIONS) / count)
    await using stage = new Stage()
    await new Child(stage, at, how, say).live(seen)
    seen.lives += 1
    if ((n + 1) % 20 === 0) say(`D3: ${n + 1} of ${count} processes`)
  }
  return seen
}

class Child {
  readonly #stage: Stage
  readonly #at: number
  readonly #how: How
  readonly #say: (line: string) => void

  constructor(stage: Stage, at: number, how: How, say: (line: string) => void) {
    this.#stage = stage
    this.#at = at
    this.#how = how
    this.#say = say
  }

  async live(seen: Children): Promise<void> {
    const mark = join(this.#stage.folder, 'struck')
    const server = this.#start(mark)
    const sent: Sent = { acknowledged: [], refused: [] }
    const port = await server.port.catch(() => undefined)
    if (port !== undefined) await this.#write(port, sent)
    server.signal('SIGTERM')
    const { code, signal } = await within('the end of a process', server.ended)
    if (existsSync(mark)) seen.struck += 1
    const isKilled = ['before', 'after', 'half'].includes(this.#how) && existsSync(mark)
    const inOrder = isKilled ? signal === 'SIGKILL' : code === 0 || (port === undefined && isClear(server))
    if (!inOrder) this.#fault(`ended with ${code ?? signal}: ${server.errors}`, () => (seen.crashes += 1))
    await this.#compare(sent, seen)
  }

  #start(mark: string): Started {
    const environment = {
      FAULT_DIR: join(this.#stage.folder, 'data'),
      FAULT_MARK: mark,
      FAULT_HOW: this.#how,
      FAULT_AT: `${this.#at}`,
    }
    return this.#stage.start({ preload: join(import.meta.dirname, 'faulty-fs.mjs'), environment })
  }

  async #write(port: number, { acknowledged, refused }: Sent): Promise<void> {
    const client = new Client(port)
    try {
      for (let n = 0; n < PAGES; n++) {
        const name = `page ${n}`
        try {
          await client.post('/v1/pages', { name })
          acknowledged.push(name)
          if (n % 10 === 9) await client.post('/__emulator/snapshots', { name: `s-${n}` })
        } catch (error) {
          if (!(error instanceof Refused)) throw error
          if (acknowledged.at(-1) !== name) refused.push(name)
        }
      }
    } catch {
      // The process has ended: writes in flight were not acknowledged.
    } finally {
      client.close()
    }
  }

  async #compare({ acknowledged, refused }: Sent, seen: Children): Promise<void> {
    const server = this.#stage.start()
    const client = new Client(await server.port)
    const { data } = (await client.get('/__emulator/state/pages')) as { data: { name: string }[] }
    client.close()
    await server.stop()
    const there = new Set(data.map(({ name }) => name))
    const lost = acknowledged.filter((name) => !there.has(name))
    const doubled = refused.filter((name) => there.has(name))
    if (lost.length > 0) this.#fault(`lost ${lost}`, () => (seen.lost += lost.length))
    if (doubled.length > 0)
      this.#fault(`made although refused: ${doubled}`, () => (seen.doubled += doubled.length))
    if (/corrupt|orphan/i.test(server.errors)) this.#fault(server.errors, () => (seen.unreadable += 1))
  }

  #fault(what: string, count: () => void): void {
    this.#say(`D3: ${this.#how} at operation ${this.#at} of a process: ${what}`)
    count()
  }
}

/** Whether a failed start was reported in one line with a fix, in addition to log entries. */
function isClear({ log }: Started): boolean {
  const [end, ...others] = log.filter(({ level }) => level === 'raw' || level === 'end')
  return others.length === 0 && /as planned.*Run "workspace-emulator doctor"/.test(end?.message ?? '')
}
