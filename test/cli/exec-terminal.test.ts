import { expect, onTestFinished, test } from 'vitest'
import { temporaryFile } from './in-process.ts'
import { atTerminal } from './terminal.ts'

const CTRL_C = '\u0003'

test('at a terminal, the command of exec gets the keys of a watch mode', async () => {
  const script = temporaryFile(
    'watch.cjs',
    `process.stdin.setRawMode(true).on('data', (key) => process.exit(String(key) === 'q' ? 5 : 6))
     console.log('watching')`,
  )
  const { until, type, ended } = atTerminal(['exec', '--', process.execPath, script])
  await until(/watching/)
  type('q')
  expect(await ended).toBe(5)
})

test('at a terminal, Ctrl-C reaches the command of exec once, which decides how it ends', async () => {
  const script = temporaryFile(
    'server.cjs',
    `let count = 0
     process.on('SIGINT', () => { count += 1; setTimeout(() => { console.log('heard ' + count); process.exit(9) }, 200) })
     setInterval(() => {}, 1000)
     console.log('serving')`,
  )
  const { until, type, ended } = atTerminal(['exec', '--', process.execPath, script])
  await until(/serving/)
  type(CTRL_C)
  await until(/heard 1\b/)
  expect(await ended).toBe(9)
})

test('at a terminal, a command that ignores Ctrl-C is killed alone, one second after the second one', async () => {
  const sleeper = `trap '' INT HUP; sleep 600 & echo "sleeps as $!."; wait; wait`
  const { until, type, ended } = atTerminal(['exec', '--', 'sh', temporaryFile('deaf.sh', sleeper)])
  const pid = Number((await until(/sleeps as (\d+)\./))[1])
  onTestFinished(() => void process.kill(pid, 'SIGKILL'))
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  // Two signals within 100 ms count as one, so it is typed repeatedly.
  while (!isOver) {
    type(CTRL_C)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect(await ended).toBe(130)
  expect(process.kill(pid, 0)).toBe(true)
})
