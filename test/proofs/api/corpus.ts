import { gzipSync } from 'node:zlib'
import { KEY } from '../../bench/servers.ts'

/** Bytes that a broken or hostile client sends, and a description of the defect. */
export interface Malformed {
  readonly description: string
  readonly bytes: Buffer
}

const AUTH = `Authorization: Bearer ${KEY}`

/** Known malformed and borderline HTTP requests that have caused trouble in servers. @param port the port in their Host */
export function corpus(port: number): readonly Malformed[] {
  const host = `Host: 127.0.0.1:${port}`
  const get = (line: string, ...headers: readonly string[]) =>
    `${[line, host, AUTH, ...headers].join('\r\n')}\r\n\r\n`
  const post = (headers: readonly string[], body: string) =>
    `${['POST /v1/pages HTTP/1.1', host, AUTH, 'Content-Type: application/json', ...headers].join('\r\n')}\r\n\r\n${body}`
  const list = 'GET /v1/data-views HTTP/1.1'
  const chunked = 'Transfer-Encoding: chunked'
  const page = '{"name":"x"}'
  const length = (n: number | string) => `Content-Length: ${n}`
  const hosts = [
    ...['', ' ', 'evil.example', '0177.0.0.1', '2130706433', '127.1', '[::1', '[::ffff:127.0.0.1]', '%00'],
    ...[`127.0.0.1:${port}, evil`, `evil@127.0.0.1:${port}`, '127.0.0.1:99999', '127.0.0.1:-1'],
    ...['http://127.0.0.1', 'a'.repeat(5_000), 'xn--a'],
  ]
  const targets = [
    ...['*', '', 'v1/data-views', '//v1/data-views', '/v1/data-views#x', '/V1/DATA-VIEWS', '/v1/data-views/'],
    ...['http://evil.example/v1/data-views', `http://127.0.0.1:${port}/v1/data-views`, 'http://[::1'],
    ...['ftp://127.0.0.1/', '/../../etc/passwd', '/v1/data-views?limit=1&limit=2'],
    ...['%E0%A4%A', '%00', '%2F..%2F'].map((id) => `/v1/batch-predictions/${id}`),
    ...[`/v1/${'x'.repeat(17_000)}`, `/v1/data-views?${'a&'.repeat(7_000)}`],
    ...['/__emulator/health', '/__emulator/nothing', '/@/v1/data-views', '/@UPPER/v1/data-views'],
  ]
  const methods = ['get', 'GETT', 'TRACE', 'PROPFIND', 'M-SEARCH', 'CONNECT', 'PRI', '', 'G\0T', 'OPTIONS']
  const bodies: readonly (readonly [string, string])[] = [
    ['deep JSON', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
    ['cut JSON', '{"name":'],
    ['lone quote', '"'],
    ['own prototype', '{"__proto__":{"polluted":true},"name":"x"}'],
    ['huge number', `{"name":${'9'.repeat(10_000)}}`],
    ['many members', `{${Array.from({ length: 5_000 }, (_, n) => `"${n}":0`).join(',')}}`],
  ]
  const texts: readonly (readonly [string, string])[] = [
    ['noise', 'NOT HTTP\r\n\r\n'],
    ['nothing but an end', '\r\n\r\n'],
    ['many empty lines', '\r\n'.repeat(5_000)],
    ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/0.9', 'GET /v1/data-views\r\n'],
    ['HTTP/1.0 without a host', `GET /v1/data-views HTTP/1.0\r\n${AUTH}\r\n\r\n`],
    ['HTTP/3.0', get('GET /v1/data-views HTTP/3.0')],
    ['HTTP/1.10', get('GET /v1/data-views HTTP/1.10')],
    ['no version', get('GET /v1/data-views ')],
    ['two blanks', get('GET  /v1/data-views  HTTP/1.1')],
    ['tabs', get('GET\t/v1/data-views\tHTTP/1.1')],
    ['line feeds alone', get(list).replaceAll('\r\n', '\n')],
    ['returns alone', get(list).replaceAll('\r\n', '\r')],
    ['no host', `${list}\r\n${AUTH}\r\n\r\n`],
    ['two hosts', get(list, host)],
    ['two different hosts', get(list, 'Host: evil.example')],
    ['two keys', get(list, 'Authorization: Bearer other')],
    ['folded header', get(list, 'X-Long: a\r\n  b\r\n\tc')],
    ['header without a colon', get(list, 'Nonsense')],
    ['blank before the colon', get(list, 'Content-Length : 0')],
    ['empty header name', get(list, ': value')],
    ['odd header name', get(list, 'X-(a)@b: c')],
    ['NUL in a header', get(list, 'X-Odd: a\0b')],
    ['latin1 header', get(list, 'X-Odd: \xe9\xff')],
    ['header of 17 kB', get(list, `X-Long: ${'x'.repeat(17_000)}`)],
    ['header name of 17 kB', get(list, `${'x'.repeat(17_000)}: 1`)],
    ['2,500 headers', get(list, ...Array.from({ length: 2_500 }, () => 'a:b'))],
    ['prototype as header', get(list, '__proto__: x', 'constructor: y')],
    ['cut head', get(list).slice(0, 40)],
    ['cut after the first line', `${list}\r\n`],
    ['two lengths, equal', post([length(12), length(12)], page)],
    ['two lengths, different', post([length(12), length(5)], page)],
    ['lengths in one header', post([length('12, 12')], page)],
    ['length and chunks', post([length(12), chunked], `c\r\n${page}\r\n0\r\n\r\n`)],
    ['negative length', post([length(-1)], page)],
    ['length with a plus', post([length('+12')], page)],
    ['length in hex', post([length('0xc')], page)],
    ['length beyond numbers', post([length('9'.repeat(30))], page)],
    ['length larger than the body', post([length(500)], page)],
    ['length smaller than the body', post([length(3)], page)],
    ['length announced too large', post([length(2_000_000)], page)],
    ['bad chunk size', post([chunked], `zz\r\n${page}\r\n0\r\n\r\n`)],
    ['negative chunk size', post([chunked], `-c\r\n${page}\r\n0\r\n\r\n`)],
    ['huge chunk size', post([chunked], `${'f'.repeat(20)}\r\n${page}`)],
    ['chunk without an end', post([chunked], `c\r\n${page}`)],
    ['chunk longer than declared', post([chunked], `5\r\n${page}\r\n0\r\n\r\n`)],
    ['chunk extensions', post([chunked], `c;a=b;c="d"\r\n${page}\r\n0\r\n\r\n`)],
    ['huge chunk extension', post([chunked], `c;${'x'.repeat(40_000)}\r\n${page}\r\n0\r\n\r\n`)],
    ['trailers', post([chunked], `c\r\n${page}\r\n0\r\nX-After: 1\r\nContent-Length: 5\r\n\r\n`)],
    ['unknown transfer coding', post(['Transfer-Encoding: gzip'], page)],
    ['chunked twice', post([chunked, chunked], `c\r\n${page}\r\n0\r\n\r\n`)],
    ['chunked not last', post(['Transfer-Encoding: chunked, gzip'], page)],
    ['obscured chunked', post(['Transfer-Encoding: \tchunked', length(12)], page)],
    ['bogus content coding', post([length(12), 'Content-Encoding: zip'], page)],
    ['gzip that is none', post([length(12), 'Content-Encoding: gzip'], page)],
    ['body of a GET', `${get(list, length(5))}abcde`],
    ['smuggled request', post([length(0)], 'GET /v1/nothing HTTP/1.1\r\nX: ')],
    ['three in one', get(list) + get(list) + get(list)],
    ['noise after a request', `${get(list)}\0\0\0 noise\r\n\r\n`],
    ['noise after a body', `${post([length(12)], page)}}}}}`],
    ['upgrade to a websocket', get(list, 'Connection: Upgrade', 'Upgrade: websocket')],
    [
      'upgrade to h2c',
      get(list, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AA'),
    ],
    ['expects something odd', post([length(12), 'Expect: the-unexpected'], page)],
    ['expects to go on', post([length(12), 'Expect: 100-continue'], page)],
    ['expects to go on and stops', post([length(500), 'Expect: 100-continue'], '')],
    ['odd connection header', get(list, 'Connection: close, keep-alive, Host, Authorization')],
    ['tunnel', get(`CONNECT 127.0.0.1:${port} HTTP/1.1`)],
    ['tunnel elsewhere', get('CONNECT evil.example:443 HTTP/1.1')],
    ...hosts.map(
      (each) => [`host ${each.slice(0, 30)}`, `${list}\r\nHost: ${each}\r\n${AUTH}\r\n\r\n`] as const,
    ),
    ...targets.map((each) => [`target ${each.slice(0, 40)}`, get(`GET ${each} HTTP/1.1`)] as const),
    ...methods.map((each) => [`method ${each}`, get(`${each} /v1/data-views HTTP/1.1`)] as const),
    ...bodies.map(
      ([description, body]) => [description, post([length(Buffer.byteLength(body))], body)] as const,
    ),
  ]
  const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20))
  const bombHead = Buffer.from(post(['Content-Encoding: gzip', length(bomb.length)], ''), 'latin1')
  return [
    ...texts.map(([description, text]) => ({ description, bytes: Buffer.from(text, 'latin1') })),
    { description: 'TLS greeting', bytes: Buffer.from('16030100c8010000c40303', 'hex') },
    { description: 'all bytes there are', bytes: Buffer.from(Array.from({ length: 256 }, (_, n) => n)) },
    { description: 'zeros', bytes: Buffer.alloc(20_000) },
    { description: 'nothing', bytes: Buffer.alloc(0) },
    { description: 'a bomb', bytes: Buffer.concat([bombHead, bomb]) },
  ]
}
