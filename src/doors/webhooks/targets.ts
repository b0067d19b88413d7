import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { urlProblem } from '../../kernel/outbox/records.ts'
import { reachOf } from './addresses.ts'

/** The flag of the command line that lists further targets, as messages name it. */
const TARGET_FLAG = '--allow-webhook'

/** An address that a name leads to. */
export interface Address {
  readonly address: string
  readonly family: 4 | 6
}

/** Finds all addresses of a name; rejects when there is none. */
export type Resolve = (name: string) => Promise<readonly Address[]>

/** Where a webhook may go: the addresses that were judged, which are the ones to connect to. */
export interface Target {
  readonly url: URL
  /** Without brackets. */
  readonly host: string
  readonly port: number
  readonly addresses: readonly Address[]
}

/** `refused`: nothing may be sent there; why, and the way out. */
export type Verdict = Target | { readonly refused: string }

export interface TargetOptions {
  /** Targets beyond this machine, each an exact `host:port`; made by {@link allowTargets}. */
  readonly allowed: ReadonlySet<string>
  /** Ports of this machine that nothing is sent to. */
  readonly forbiddenPorts: () => readonly number[]
  readonly resolve?: Resolve
}

/**
 * Decides where webhooks may go: to this machine's loopback addresses, and to what the process was started with. Every
 * address of a name is judged, and the caller connects to those addresses alone, so that a name which changes between
 * judging and connecting (DNS rebinding) changes nothing. Link-local addresses are never allowed.
 */
export class Targets {
  readonly #allowed: ReadonlySet<string>
  readonly #forbiddenPorts: () => readonly number[]
  readonly #resolve: Resolve

  constructor({ allowed, forbiddenPorts, resolve = systemResolve }: TargetOptions) {
    this.#allowed = allowed
    this.#forbiddenPorts = forbiddenPorts
    this.#resolve = resolve
  }

  /** Judges a URL. Rejects with the resolver's error when the name has no address. */
  async judge(given: string): Promise<Verdict> {
    const problem = urlProblem(given)
    if (problem !== undefined) return { refused: `the URL ${problem}` }
    const url = new URL(given)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const port = portOf(url)
    const addresses = await this.#addressesOf(host)
    for (const { address } of addresses) {
      const refused = this.#refusal(`${url.hostname}:${port}`, host, address, port)
      if (refused !== undefined) return { refused }
    }
    return { url, host, port, addresses }
  }

  async #addressesOf(host: string): Promise<readonly Address[]> {
    const family = isIP(host)
    if (family !== 0) return [{ address: host, family: family === 4 ? 4 : 6 }]
    const addresses = await this.#resolve(host)
    if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
    return addresses
  }

  #refusal(target: string, host: string, address: string, port: number): string | undefined {
    const where = host === address ? address : `${host} leads to ${address}, which`
    switch (reachOf(address)) {
      case 'forbidden':
        return `${where} is a link-local or metadata address or none of a host; nothing is ever sent there`
      case 'loopback':
        // A webhook to ourselves could drive the control interface, which trusts requests from this machine.
        return this.#forbiddenPorts().includes(port)
          ? `port ${port} is the emulator's own, where nothing waits for webhooks; give the receiver a port of its own`
          : undefined
      case 'other':
        return this.#allowed.has(target)
          ? undefined
          : `${where} is not on this machine; start the emulator with ${TARGET_FLAG} ${target} to allow it`
    }
  }
}

/**
 * The exact targets that a process allows. Each entry is `host:port`, IPv6 addresses in brackets.
 * @throws RangeError for an entry that is none
 */
export function allowTargets(entries: readonly string[]): ReadonlySet<string> {
  return new Set(entries.map(normalized))
}

function normalized(entry: string): string {
  const url = `http://${entry}`
  const [, port = ''] = /:(\d{1,5})$/.exec(entry) ?? []
  if (urlProblem(url) !== undefined || port === '' || /[/?#]/.test(entry)) {
    throw new RangeError(
      `\`${entry}\` is not a target. Give a host and a port, such as \`receiver:8080\` or \`[fd00::5]:8080\`.`,
    )
  }
  return `${new URL(url).hostname}:${Number(port)}`
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

async function systemResolve(name: string): Promise<readonly Address[]> {
  const found = await lookup(name, { all: true, verbatim: true })
  return found.map(({ address, family }) => ({ address, family: family === 4 ? 4 : 6 }))
}
