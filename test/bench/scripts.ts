import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { script, writeFiles } from '../support/scenario-folder.ts'

// Measures the time from the save of a script to its effect on a response, and the memory of an emulator with scripts, its
// child processes included (Linux): node --import tsx test/bench/scripts.ts [path of dist/cli.js] [saves]

const [cli = 'dist/cli.js', saves = '20'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'scenario-saves-'))
const text = (n: number) =>
  script(
    `{ stubs: [{ method: 'GET', path: '/search', body: words(${n}) }], on: { 'batch_prediction.completed': () => {} } }`,
    "import { words } from './_words.ts'\n",
  )
writeFiles(folder, {
  'search.ts': text(0),
  '_words.ts': "export const words = (n: number): string => 'version ' + n\n",
})
const argv = ['start', '--json', '--port', '0', '--ephemeral', '--scenarios', folder, '--quiet']
const child = spawn(process.execPath, [resolve(cli), ...argv], { stdio: ['ignore', 'pipe', 'inherit'] })
try {
  const [line] = await new Promise<string[]>((done) =>
    createInterface(child.stdout).once('line', (l) => done([l])),
  )
  const { control_url } = JSON.parse(line ?? '')
  // Over the control interface, since requests of the API would reach a rate limit.
  const response = async () => {
    const { data } = (await (await fetch(`${control_url}/stubs`)).json()) as { data: { body: unknown }[] }
    return data[0]?.body
  }
  await response()
  console.log(`without scripts: ${resident().toFixed(0)} MB resident`)
  const begun = performance.now()
  await fetch(`${control_url}/scenarios/search/start`, { method: 'POST' })
  console.log(`first start of a scenario: ${(performance.now() - begun).toFixed(0)} ms`)
  console.log(`with scripts: ${resident().toFixed(0)} MB resident`)
  const times: number[] = []
  for (let n = 1; n <= Number(saves); n++) {
    // Saves at any moment between two looks of the emulator.
    await wait((n * 37) % 200)
    const saved = performance.now()
    writeFiles(folder, { 'search.ts': text(n) })
    while ((await response()) !== `version ${n}`) await wait(2)
    times.push(performance.now() - saved)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor((times.length - 1) * share)]?.toFixed(0)
  console.log(`save to effect: ${at(0.5)} ms median, ${at(1)} ms at most, of ${times.length} saves`)
  console.log(`after these saves: ${resident().toFixed(0)} MB resident`)
} finally {
  child.kill('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
}

/** Megabytes of the emulator and of its child processes. */
function resident(): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const isOurs = (pid: string) => Number(pid) === child.pid || statusOf(pid, 'PPid') === child.pid
  return pids.filter(isOurs).reduce((sum, pid) => sum + statusOf(pid, 'VmRSS') / 1024, 0)
}

function statusOf(pid: string, field: string): number {
  try {
    return Number(
      new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0,
    )
  } catch {
    return 0
  }
}
