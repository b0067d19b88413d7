import type { Address } from '../../src/adapters/webhooks/targets.ts'

/** The addresses of the host names in these targets. */
const TARGET_NAMES: Readonly<Record<string, readonly string[]>> = {
  localhost: ['::1', '127.0.0.1'],
  'mine.example': ['127.0.0.5'],
  'mixed.example': ['127.0.0.1', '93.184.216.34'],
  'receiver.example': ['172.18.0.5'],
  'metadata.example': ['169.254.169.254'],
  'half.example': ['172.18.0.5', '169.254.169.254'],
  'none.example': [],
  'everywhere.example': ['0.0.0.0'],
}

/** The port of the emulator in this table. */
export const OWN_PORT = 4010

/** Entries of `--allow-webhook`: they allow the first table and still refuse the second. */
export const ALLOWED_ENTRIES = ['10.0.0.5:8080', 'receiver.example:8080', '[fd00::5]:8080']

/** Entries that allow no target of the second table. */
export const USELESS_ENTRIES = ['half.example:8080', '127.0.0.1:4010', '169.254.169.254:80']

/** The addresses of a name in {@link TARGET_NAMES}, as a resolver returns them. */
export async function resolveTarget(name: string): Promise<readonly Address[]> {
  const found = TARGET_NAMES[name]
  if (found === undefined) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' })
  return found.map(asAddress)
}

export function asAddress(address: string): Address {
  return { address, family: address.includes(':') ? 6 : 4 }
}

/** Targets that are allowed, and the address of each. */
export const ALLOWED_TARGETS: readonly (readonly [
  url: string,
  addresses: readonly string[],
  port: number,
])[] = [
  ['http://127.0.0.1/', ['127.0.0.1'], 80],
  ['http://127.0.0.1:9000/hook?a=b', ['127.0.0.1'], 9000],
  ['https://127.0.0.1/', ['127.0.0.1'], 443],
  ['http://127.255.255.254:1/', ['127.255.255.254'], 1],
  ['http://127.1:9000/', ['127.0.0.1'], 9000],
  ['http://127.0.1:9000/', ['127.0.0.1'], 9000],
  ['http://2130706433:9000/', ['127.0.0.1'], 9000],
  ['http://0177.0.0.1:9000/', ['127.0.0.1'], 9000],
  ['http://0x7f.0x0.0x0.0x1:9000/', ['127.0.0.1'], 9000],
  ['http://0x7f000001:9000/', ['127.0.0.1'], 9000],
  ['http://017700000001:9000/', ['127.0.0.1'], 9000],
  ['http://127.0.0.1.:9000/', ['127.0.0.1'], 9000],
  ['http://①②⑦.0.0.1:9000/', ['127.0.0.1'], 9000],
  ['http://[::1]:9000/', ['::1'], 9000],
  ['http://[0:0:0:0:0:0:0:1]:9000/', ['::1'], 9000],
  ['http://[::ffff:127.0.0.1]:9000/', ['::ffff:7f00:1'], 9000],
  ['http://[::ffff:7f00:1]:9000/', ['::ffff:7f00:1'], 9000],
  ['http://localhost:9000/', ['::1', '127.0.0.1'], 9000],
  ['http://LocalHost:9000/', ['::1', '127.0.0.1'], 9000],
  ['http://hook.localhost:9000/', ['::1', '127.0.0.1'], 9000],
  ['http://mine.example:9000/', ['127.0.0.5'], 9000],
  ['http://10.0.0.5:8080/', ['10.0.0.5'], 8080],
  ['http://receiver.example:8080/', ['172.18.0.5'], 8080],
  ['http://[fd00::5]:8080/', ['fd00::5'], 8080],
]

type Refused = readonly (readonly [url: string, reason: string])[]

/** The URLs of a text, each with this reason. */
const because = (reason: string, urls: string): Refused => urls.split(/\s+/).map((url) => [url, reason])

const REFUSED = [
  because(
    'start the emulator with --allow-webhook',
    `http://10.0.0.5/ http://10.0.0.5:8081/ http://172.16.0.1/ http://192.168.1.1/ http://3232235777/
    http://100.64.0.1/ http://93.184.216.34/ http://128.0.0.1/ http://126.255.255.255/ http://[fc00::1]/
    http://[2001:db8::1]/ http://[1::2]/ http://[::ffff:10.0.0.1]/ http://[::ffff:c0a8:101]/
    http://[64:ff9b::127.0.0.1]/ http://[2002:7f00:1::]/ http://mixed.example:9000/
    http://receiver.example:8081/ https://receiver.example/`,
  ),
  because(
    'webhooks to it are never allowed',
    `http://0/ http://0.0.0.0:9000/ http://0.0.0.1/ http://[::]:9000/ http://[::2]/ http://everywhere.example:9000/
    http://169.254.169.254/latest http://169.254.0.1/ http://2852039166/ http://0xa9fea9fe/ http://0251.0376.0251.0376/
    http://[::ffff:169.254.169.254]/ http://[::ffff:a9fe:a9fe]/ http://[::169.254.169.254]/ http://[fe80::1]/
    http://[64:ff9b::169.254.169.254]/ http://[2002:a9fe:a9fe::]/ http://[febf::1]/ http://[fd00:ec2::254]/
    http://[::ffff:0.0.0.0]/ http://100.100.100.200/ http://metadata.example/ http://half.example:8080/`,
  ),
  because(
    'port 4010 belongs to the emulator',
    `http://127.0.0.1:4010/__emulator/reset http://127.9.9.9:4010/ http://localhost:4010/ http://[::1]:4010/
    http://[::ffff:127.0.0.1]:4010/ http://mine.example:4010/`,
  ),
  because(
    'must not contain a user name',
    'http://user@127.0.0.1:9000/ http://user:secret@127.0.0.1:9000/ http://127.0.0.1:80@evil.example/',
  ),
  because(
    'must be an absolute http or https URL',
    'http://127.0.0.1:9000\\@evil.example/ http:///user@127.0.0.1/ ftp://127.0.0.1/ file:///etc/passwd //127.0.0.1/',
  ),
]

/** Targets that are refused, with the reason. */
export const REFUSED_TARGETS: Refused = [
  ...REFUSED.flat(),
  ['http://127.0.0.1:9000/\r\nX-Evil: 1', 'must be an absolute http or https URL'],
]
