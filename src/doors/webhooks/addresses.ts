import { BlockList, isIPv4 } from 'node:net'

/**
 * What an IP address is to somebody who may only send to this machine. `forbidden`: link-local addresses, where clouds serve
 * credentials to whoever asks, the other addresses of such services, and those that name no host.
 */
export type Reach = 'loopback' | 'forbidden' | 'other'

const loopback = listOf(['127.0.0.0/8', '::1/128'])

const forbidden = listOf([
  '0.0.0.0/8',
  '::/128',
  '169.254.0.0/16',
  'fe80::/10',
  // Metadata services that live outside the link-local range.
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
])

/**
 * Judges an address as the resolver or a URL gives it: without brackets, possibly with a zone. An IPv4-mapped address is the
 * IPv4 address in it: the lists know that by themselves.
 */
export function reachOf(address: string): Reach {
  const [bare = ''] = address.split('%')
  const family = isIPv4(bare) ? 'ipv4' : 'ipv6'
  if (forbidden.check(bare, family)) return 'forbidden'
  if (loopback.check(bare, family)) return 'loopback'
  // Behind a translator such an address leads to the IPv4 address in it.
  const inner = family === 'ipv6' ? embeddedIpv4(groupsOf(bare)) : undefined
  return inner !== undefined && forbidden.check(inner) ? 'forbidden' : 'other'
}

/** The first 96 bits of addresses that have an IPv4 address in the last 32: compatible and translated ones. */
const PREFIXES = ['0:0:0:0:0:0', '0:0:0:0:ffff:0', '64:ff9b:0:0:0:0']

function embeddedIpv4(groups: readonly number[]): string | undefined {
  const text = groups.map((group) => group.toString(16))
  // 6to4 has it behind its first 16 bits.
  if (text[0] === '2002') return dotted(groups.slice(1, 3))
  return PREFIXES.includes(text.slice(0, 6).join(':')) ? dotted(groups.slice(6)) : undefined
}

function dotted(groups: readonly number[]): string {
  return groups.flatMap((group) => [group >> 8, group & 0xff]).join('.')
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The URL parser writes every address in its one canonical form.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const before = head === '' ? [] : head.split(':')
  const behind = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: 8 - before.length - behind.length }, () => '0')
  return [...before, ...zeros, ...behind].map((group) => Number.parseInt(group, 16))
}

function listOf(subnets: readonly string[]): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [net = '', bits] = subnet.split('/')
    list.addSubnet(net, Number(bits), isIPv4(net) ? 'ipv4' : 'ipv6')
  }
  return list
}
