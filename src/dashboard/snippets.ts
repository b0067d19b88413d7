import { harmless, literal } from '../core/quoted.ts'
import { shellWord } from '../core/shell-word.ts'
import { pretty } from './format.ts'

/** The languages in which a request is shown. */
export const LANGUAGES = { curl: 'curl', fetch: 'fetch', python: 'Python', go: 'Go' }

export type Language = keyof typeof LANGUAGES

/** A request that a user sends with another client. */
export interface ShownRequest {
  readonly method: string
  /** With its query. */
  readonly url: string
  /** Without `Authorization`. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON; undefined for none. */
  readonly body?: unknown
  /** Default: the environment variable `WORKSPACE_API_KEY`, since the emulator keeps only digests of keys. */
  readonly key?: string
}

/** The keys of the demo data. The emulator keeps only digests, so it cannot list keys in plain text. */
export const DEMO_KEYS = [
  { token: 'live_demo_owner', id: 'key-owner', role: 'user, account admin' },
  { token: 'live_demo_member', id: 'key-member', role: 'user, plain member' },
  { token: 'live_demo_outsider', id: 'key-outsider', role: 'user of another teamspace' },
  { token: 'service_demo', id: 'key-service', role: 'service key' },
] as const

/** A request as runnable code. Values that clients have sent are quoted by the rules of the language. */
export const snippet = (language: Language, request: ShownRequest): string => WRITERS[language](request)

const WRITERS: Readonly<Record<Language, (request: ShownRequest) => string>> = {
  curl: ({ method, url, headers, body, key }) => {
    const authorization =
      key === undefined
        ? '"Authorization: Bearer $WORKSPACE_API_KEY"'
        : shellWord(`Authorization: Bearer ${key}`)
    const lines = [
      // Without -g curl takes brackets and braces of a URL as a range.
      `curl ${/[[\]{}]/.test(url) ? '-g ' : ''}${method === 'GET' ? '' : `-X ${method} `}${shellWord(url)}`,
      `-H ${authorization}`,
      ...Object.entries(headers).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
      ...(body === undefined ? [] : [`-d ${shellWord(JSON.stringify(body))}`]),
    ]
    return lines.join(' \\\n  ')
  },
  fetch: ({ method, url, headers, body, key }) => {
    const token = bearer(key, `\`Bearer \${process.env.WORKSPACE_API_KEY}\``)
    const lines = [
      ...(method === 'GET' ? [] : [`  method: ${literal(method)},`]),
      `  headers: {\n    Authorization: ${token},`,
      ...Object.entries(headers).map(([name, value]) => `    ${literal(name)}: ${literal(value)},`),
      '  },',
      ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(harmless(pretty(body)))}),`]),
    ]
    return `const response = await fetch(${literal(url)}, {\n${lines.join('\n')}\n})\nconsole.log(response.status, await response.text())`
  },
  python: ({ method, url, headers, body, key }) => {
    const token = bearer(key, '"Bearer " + os.environ["WORKSPACE_API_KEY"]')
    const lines = [
      `    ${literal(method)},`,
      `    ${literal(url)},`,
      `    headers={\n        "Authorization": ${token},`,
      ...Object.entries(headers).map(([name, value]) => `        ${literal(name)}: ${literal(value)},`),
      '    },',
      ...(body === undefined ? [] : [`    data=${literal(JSON.stringify(body))}.encode(),`]),
    ]
    const imports = key === undefined ? 'import os\n\nimport requests' : 'import requests'
    return `${imports}\n\nresponse = requests.request(\n${lines.join('\n')}\n)\nprint(response.status_code, response.text)`
  },
  go: ({ method, url, headers, body, key }) => {
    const token = bearer(key, '"Bearer "+os.Getenv("WORKSPACE_API_KEY")')
    const reader = body === undefined ? 'nil' : `strings.NewReader(${literal(JSON.stringify(body))})`
    return [
      `req, err := http.NewRequest(${literal(method)},\n\t${literal(url)},\n\t${reader})`,
      'if err != nil {\n\tlog.Fatal(err)\n}',
      `req.Header.Set("Authorization", ${token})`,
      ...Object.entries(headers).map(
        ([name, value]) => `req.Header.Set(${literal(name)}, ${literal(value)})`,
      ),
      'res, err := http.DefaultClient.Do(req)',
    ].join('\n')
  },
}

/** The value of `Authorization`: the key, or code that reads it. */
const bearer = (key: string | undefined, read: string) =>
  key === undefined ? read : literal(`Bearer ${key}`)

const indented = (text: string) => text.replaceAll('\n', '\n  ')
