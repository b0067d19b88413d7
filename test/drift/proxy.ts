import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { command, temporaryDirectory } from '../cli/in-process.ts'

export const REAL = 'sk_live_R3alK3yOfTheService'

/** A server on this machine until the end of the test. Returns its port. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export const serving = (listener: RequestListener) => listening(createServer(listener))

/** A folder for recordings with a script that a command of a test runs. `call(path, init)` is fetch with the key. */
export function recordingFolder(script: string) {
  const folder = temporaryDirectory()
  const file = join(folder, 'client.mjs')
  const out = join(folder, 'recordings')
  writeFileSync(
    file,
    `import { writeFileSync } from 'node:fs'
const { WORKSPACE_BASE_URL: base, WORKSPACE_API_KEY: key } = process.env
const call = (path, init = {}) => fetch(base + path, { ...init, headers: { authorization: 'Bearer ' + key, ...init.headers } })
const say = (value) => writeFileSync(${JSON.stringify(join(folder, 'said.json'))}, JSON.stringify(value))
${script}`,
  )
  const recordings = () => {
    const [name] = readdirSync(out)
    return name === undefined ? undefined : join(out, name)
  }
  return {
    folder,
    argv: (against: string, ...flags: string[]) => [
      ...['drift', 'record', '--against', against, '--key-env', 'REAL_KEY', '--out', out, ...flags],
      ...['--', process.execPath, file],
    ],
    said: () => JSON.parse(readFileSync(join(folder, 'said.json'), 'utf8')),
    har: () => recordings(),
    entries: () => JSON.parse(readFileSync(recordings() ?? '', 'utf8')).log.entries,
  }
}

/** Runs a script behind the proxy in this process. */
export async function recordScript(against: string, script: string, ...flags: string[]) {
  const folder = recordingFolder(script)
  const env = { PATH: process.env.PATH ?? '', REAL_KEY: REAL, COPY_OF_KEY: `Bearer ${REAL}` }
  const outcome = await command(folder.argv(against, ...flags), env)
  return { ...folder, ...outcome }
}
