import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run as runCommand } from '../../package/run.ts'
import type { TransportName } from '../../support/transport.ts'
import { type Figure, none, type Proof, tried } from '../proof.ts'

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

/** The paths of the test files about operations, and of those that use the two common builders, relative to the project. */
function files(): readonly string[] {
  return readdirSync('test/spec', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !/(?:express|fetch)\.(?:slow\.)?test\.ts$/.test(path))
    .map((path) => join('test/spec', path))
    .filter((path) => {
      const isOperation = path.startsWith('test/spec/operations/')
      return isOperation || /\b(?:test|control)Emulator\(/.test(readFileSync(path, 'utf8'))
    })
    .sort()
}

/** The outcome of every test under one transport, by file and title. */
async function outcomes(transport: TransportName, paths: readonly string[]): Promise<Map<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-f8-'))
  try {
    const report = join(folder, 'report.json')
    const args = ['vitest', 'run', '--reporter=json', `--outputFile=${report}`]
    await runCommand('.', 'npx', [...args, ...paths], { TEST_TRANSPORT: transport })
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as VitestReport
    return new Map(
      testResults.flatMap(({ name, assertionResults }) =>
        assertionResults.map(({ fullName, status }) => [`${name} ${fullName}`, status]),
      ),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function run(): Promise<readonly Figure[]> {
  const paths = files()
  const socket = await outcomes('socket', paths)
  const express = await outcomes('express', paths)
  const fetch = await outcomes('fetch', paths)
  const others = [...new Set([...socket.keys(), ...express.keys(), ...fetch.keys()])].filter(
    (title) => express.get(title) !== socket.get(title) || fetch.get(title) !== socket.get(title),
  )
  return [
    tried('test files', paths.length),
    tried('tests that pass on node:http', passed(socket)),
    tried('tests that pass on supertest and a router at a path of an Express application', passed(express)),
    tried('tests that pass on emulator.fetch', passed(fetch)),
    none(`tests with another outcome${others[0] === undefined ? '' : `: ${others[0]}`}`, others.length),
  ]
}

function passed(tests: ReadonlyMap<string, string>): number {
  return [...tests.values()].filter((status) => status === 'passed').length
}

export const f8: Proof = {
  id: 'F8',
  promise: 'The API behaves in an Express application and through emulator.fetch as it does on node:http.',
  run,
}
