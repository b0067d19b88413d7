import { BlockList, isIP, isIPv4 } from 'node:net'
import { once } from '../../core/once.ts'
import { INBOX_URL } from '../../core/webhooks/inbox.ts'
import { urlProblem } from '../../core/webhooks/records.ts'

/** The command-line flag that allows more targets, for messages. */
const TARGET_FLAG = '--allow-webhook'

/** An IP address of a name. */
export interface Address {
  readonly address: string
  readonly family: 4 | 6
}

/** Finds all addresses of a name; rejects when there is none. */
export type Resolve = (name: string) => Promise<readonly Address[]>

/** A target that is allowed. Connect only to these addresses, because only they were checked. */
export interface WebhookTarget {
  readonly url: URL
  /** Without brackets. */
  readonly host: string
  readonly port: number
  readonly addresses: readonly Address[]
}

/** `refused`: why nothing may be sent there, and how to allow it if that is possible. */
export type TargetVerdict = WebhookTarget | { readonly refused: string }

export interface TargetOptions {
  /** Allowed targets on other machines, each an exact `host:port`; created by {@link allowTargets}. */
  readonly allowed: ReadonlySet<string>
  /** Ports of this machine to which no webhook is sent. */
  readonly forbiddenPorts: () => readonly number[]
  readonly resolve?: Resolve
}

/**
 * Decides where webhooks may be sent: to loopback addresses, and to the targets that the process was started with. Every
 * address of a name is checked, and the caller connects only to the checked addresses. So a name whose address changes
 * between check and connection (DNS rebinding) has no effect. Link-local addresses are never allowed.
 */
export class Targets {
  readonly #options: TargetOptions

  constructor(options: TargetOptions) {
    this.#options = options
  }

  /** Checks a URL and looks up its name. Rejects with the resolver's error when the name has no address. */
  async judge(given: string): Promise<TargetVerdict> {
    const problem = urlProblem(given)
    if (problem !== undefined) return { refused: `the URL ${problem}` }
    const { url, host, port, target } = partsOf(given)
    const addresses = await this.#addressesOf(host)
    for (const { address } of addresses) {
      const refused = this.#refusal(target, host, address, port)
      if (refused !== undefined) return { refused }
    }
    return { url, host, port, addresses }
  }

  /**
   * The reason why a URL may not be subscribed, found without a DNS lookup; undefined when it may. Only `localhost` and the
   * names below it always lead to this machine (RFC 6761). Any other name must be allowed, and its addresses are checked again
   * at each attempt.
   */
  problemOf(given: string): string | undefined {
    const problem = urlProblem(given)
    if (problem !== undefined) return problem
    const { host, port, target } = partsOf(given)
    if (isIP(host) !== 0) return this.#refusal(target, host, host, port)
    if (host.replace(BELOW_LOCALHOST, 'localhost') === 'localhost')
      return this.#refusal(target, host, '127.0.0.1', port)
    return given === INBOX_URL || this.#options.allowed.has(target)
      ? undefined
      : `${host} may resolve to another machine; start the emulator with ${TARGET_FLAG} ${target} to allow it`
  }

  async #addressesOf(host: string): Promise<readonly Address[]> {
    const family = isIP(host)
    if (family !== 0) return [{ address: host, family: family === 4 ? 4 : 6 }]
    // Resolvers of many systems know only the name itself.
    const { resolve = systemResolve } = this.#options
    const addresses = await resolve(host.replace(BELOW_LOCALHOST, 'localhost'))
    if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
    return addresses
  }

  #refusal(target: string, host: string, address: string, port: number): string | undefined {
    const where = host === address ? address : `${host} resolves to ${address}, which`
    switch (reachOf(address)) {
      case 'forbidden':
        return `${where} is a link-local address, a metadata address or not the address of a host; webhooks to it are never allowed`
      case 'loopback':
        // A webhook to the emulator itself could call the control interface, which trusts requests from this machine.
        return this.#options.forbiddenPorts().includes(port)
          ? `port ${port} belongs to the emulator, which receives no webhooks there; use another port for the receiver`
          : undefined
      case 'other':
        return this.#options.allowed.has(target)
          ? undefined
          : `${where} is not on this machine; start the emulator with ${TARGET_FLAG} ${target} to allow it`
    }
  }
}

/** A name that always leads to this machine (RFC 6761). */
const BELOW_LOCALHOST = /^(?:.*\.)?localhost\.?$/

/**
 * The exact targets that a process allows. Each entry is `host:port`, with IPv6 addresses in brackets.
 * @throws RangeError for a malformed entry
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

/** The host is without brackets, and the target is the host and the port as in {@link allowTargets}. */
function partsOf(given: string) {
  const url = new URL(given)
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  return { url, host: url.hostname.replace(/^\[|\]$/g, ''), port, target: `${url.hostname}:${port}` }
}

async function systemResolve(name: string): Promise<readonly Address[]> {
  const { lookup } = await import('node:dns/promises')
  const found = await lookup(name, { all: true, verbatim: true })
  return found.map(({ address, family }) => ({ address, family: family === 4 ? 4 : 6 }))
}

/**
 * The kind of an IP address. `loopback`: this machine. `forbidden`: link-local addresses, where cloud providers serve
 * credentials without authentication; other addresses of such services; and addresses that are not a host. `other`: must be
 * allowed explicitly.
 */
type Reach = 'loopback' | 'forbidden' | 'other'

// Made when the first webhook is checked: a start does not wait for them.
const loopback = once(() => listOf(['127.0.0.0/8', '::1/128']))

const FORBIDDEN_IPV4 = [
  '0.0.0.0/8',
  '169.254.0.0/16',
  // Metadata services outside the link-local range.
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
]

const forbidden = once(() =>
  listOf([
    ...FORBIDDEN_IPV4,
    ...FORBIDDEN_IPV4.flatMap(embeddedIn),
    'fe80::/10',
    'fd00:ec2::254/128',
    'fd20:ce::254/128',
  ]),
)

/**
 * Classifies an address from the resolver or a URL: without brackets, possibly with a zone. `BlockList` checks an IPv4-mapped
 * address as the IPv4 address in it.
 */
export function reachOf(address: string): Reach {
  const [bare = ''] = address.split('%')
  const family = isIPv4(bare) ? 'ipv4' : 'ipv6'
  if (loopback().check(bare, family)) return 'loopback'
  return forbidden().check(bare, family) ? 'forbidden' : 'other'
}

/**
 * The IPv6 subnets whose packets go to an IPv4 subnet. Compatible and translated addresses (such as those of NAT64) end with the
 * IPv4 address, and a 6to4 address has it after its first 16 bits.
 */
function embeddedIn(subnet: string): string[] {
  const [net = '', bits] = subnet.split('/')
  const [a = 0, b = 0, c = 0, d = 0] = net.split('.').map(Number)
  const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  const translated = ['::', '::ffff:0:', '64:ff9b::'].map((prefix) => `${prefix}${hex}/${96 + Number(bits)}`)
  return [...translated, `2002:${hex}::/${16 + Number(bits)}`]
}

function listOf(subnets: readonly string[]): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [net = '', bits] = subnet.split('/')
    list.addSubnet(net, Number(bits), isIPv4(net) ? 'ipv4' : 'ipv6')
  }
  return list
}
