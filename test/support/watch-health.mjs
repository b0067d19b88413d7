import { existsSync, readFileSync } from 'node:fs'

// A process of its own, because a test that builds and sends large bodies is late itself. Says 'ready' after the
// first answer, asks for health every 100 ms until the test says 'stop', then sends how long each request took.

const [url, pid] = process.argv.slice(2)
const stat = `/proc/${pid}/task/${pid}/stat`

/**
 * Milliseconds that the main thread of the emulator has worked, in steps of 10 ms. Unlike real time, they do not grow when
 * other processes use the machine. Undefined where the system does not tell.
 */
function worked() {
  if (!existsSync(stat)) return undefined
  const [user, system] = readFileSync(stat, 'utf8').split(') ')[1].split(' ').slice(11, 13).map(Number)
  return (user + system) * 10
}

async function ask() {
  const [began, before] = [performance.now(), worked()]
  const { status } = await fetch(url)
  if (status !== 200) throw new Error(`health answered ${status}`)
  const real = performance.now() - began
  const after = worked()
  return { real, work: before === undefined || after === undefined ? real : after - before }
}

// The first request loads what fetch needs.
await ask()
let isOver = false
process.once('message', () => {
  isOver = true
})
process.send('ready')
const took = []
do {
  took.push(await ask())
  await new Promise((resolve) => setTimeout(resolve, 100))
} while (!isOver)
process.send(took)
process.disconnect()
