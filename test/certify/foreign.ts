import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PATTERN, runCertify, type Shown } from './cards.ts'

const script = (name: string) => `test/certify/foreign/${name}`

/** Clients of public libraries with their own retries, by the library. They are certified at level A. */
const COMMANDS = {
  'got-retry': () => [process.execPath, script('got.mjs')],
  ky: () => [process.execPath, script('ky.mjs')],
  'axios-retry': () => [process.execPath, script('axios.mjs')],
  undici: () => [process.execPath, script('undici.mjs')],
  urllib3: () => [python(), '-B', script('urllib3_retry.py')],
  requests: () => [python(), '-B', script('requests_retry.py')],
  retryablehttp: () => [builtInGo()],
}
type Library = keyof typeof COMMANDS
export const FOREIGN = Object.keys(COMMANDS) as Library[]

/** What the emulator says of each client, as it was read and judged one by one. */
export interface JudgedFinding {
  readonly client: Library
  readonly case: string
  /** `warning key.missing`. */
  readonly finding: string
  /** Whether the finding is right, and why. */
  readonly judgement: `right: ${string}` | `wrong: ${string}`
}

export function judgedFindings(): readonly JudgedFinding[] {
  return JSON.parse(readFileSync('test/certify/foreign/findings.json', 'utf8'))
}

/** A Python with both libraries: that of the system has the packages of the system. */
function python(): string {
  const has = (file: string) => spawnSync(file, ['-c', 'import requests, urllib3']).status === 0
  const found = ['python3', '/usr/bin/python3'].find(has)
  if (found === undefined)
    throw new Error(
      'No python3 has requests and urllib3. Install them, for example with "apt-get install python3-requests".',
    )
  return found
}

/** Builds the client in Go with the library that the package of the system has put in its own folder. */
function builtInGo(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'workspace-foreign-')), 'client')
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' }
  const { status, stderr } = spawnSync('go', ['build', '-o', file, script('retryablehttp.go')], {
    env,
    encoding: 'utf8',
  })
  if (status !== 0)
    throw new Error(
      `The client in Go could not be built. Install it, for example with "apt-get install golang-go golang-github-hashicorp-go-retryablehttp-dev". ${stderr}`,
    )
  return file
}

export function certifyLibrary(library: Library): Promise<readonly Shown[]> {
  return runCertify(['--timeout', '20s', '--run', PATTERN], COMMANDS[library]())
}
