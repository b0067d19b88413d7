import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { stagesOf } from './dockerfile.ts'
import { buildImage, type Image } from './image.ts'
import { PATIENCE, PLAIN_ENV } from './run.ts'

const dockerfile = readFileSync('Dockerfile', 'utf8')
const stages = stagesOf(dockerfile)
const isRoot = process.getuid?.() === 0

let image: Image

beforeAll(() => {
  image = buildImage(dockerfile)
}, PATIENCE)

afterAll(() => image?.remove())

test('all stages use one base image, with an exact version', () => {
  const bases = new Set(stages.map(({ base }) => base))
  expect([...bases]).toEqual([expect.stringMatching(/^node:\d+\.\d+\.\d+-[a-z]+-slim$/)])
})

test('the installed packages are those of the lock file', () => {
  const runs = stages.flatMap(({ instructions }) => instructions).filter(({ name }) => name === 'RUN')
  expect(runs.map(({ text }) => text)).toContainEqual(expect.stringMatching(/^npm ci .*--ignore-scripts/))
})

test('it runs as a numeric user other than root, and keeps its data in a volume', () => {
  expect(image.user?.uid).toBeGreaterThan(0)
  expect(image.user?.gid).toBeGreaterThan(0)
  expect(image.volumes).toEqual(['/data'])
})

test('the container becomes healthy, and on SIGTERM it saves its state and ends with exit code 0', async () => {
  const port = await freePort()
  const [command = '', ...args] = [...image.entrypoint, ...image.command]
  const container = inContainer(command, args, port)
  const ended = once(container.process, 'close')
  onTestFinished(() => void container.process.kill('SIGKILL'))
  const [check = '', ...question] = image.healthcheck
  const health = inContainer(
    check,
    question.map((word) => (word === '3s' ? '20s' : word)),
    port,
  )
  const [healthy] = await once(health.process, 'close')
  expect(healthy, `${health.said()}\n${container.said()}`).toBe(0)
  const response = await fetch(`http://127.0.0.1:${port}/v1/data-views`, {
    headers: { authorization: 'Bearer live_demo_owner' },
  })
  expect(response.status).toBe(200)
  expect((await fetch(`http://127.0.0.1:${port}/__emulator/clock`)).status).toBe(401)
  container.process.kill('SIGTERM')
  expect(await ended, container.said()).toEqual([0, null])
  const saved = await stat(join(image.root, 'data/default.json'))
  expect(saved.size).toBeGreaterThan(1_000)
  if (isRoot) expect(saved.uid).toBe(image.user?.uid)
})

/** Runs a command of the Dockerfile as in the container, with the port that `docker run -e` sets. */
function inContainer(command: string, args: readonly string[], port: number) {
  const { PATH = '', HOME = '' } = PLAIN_ENV
  const child = spawn(command === 'node' ? process.execPath : command, args, {
    cwd: image.cwd,
    env: { PATH, HOME, ...image.env, WORKSPACE_EMULATOR_PORT: `${port}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isRoot ? image.user : {}),
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk
    })
  }
  return { process: child, said: () => said }
}
