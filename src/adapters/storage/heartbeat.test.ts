import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { folder } from '../../../test/support/disk-emulator.ts'
import { holderIn } from '../lock-file.ts'
import { Beats, startHeartbeat } from './heartbeat.ts'
import { Lock } from './lock.ts'
import { realPorts } from './lock-taking.ts'
import type { StorageNotice } from './notice.ts'

/** A generous limit: only a thread that does nothing exceeds it. */
const PATIENT = { timeout: 30_000, interval: 50 }

/** A lock with a real thread. */
async function beating() {
  const data = join(folder(onTestFinished), 'data')
  const notices: StorageNotice[] = []
  const ports = realPorts()
  const lock = await Lock.take(data, (notice) => notices.push(notice), ports)
  onTestFinished(() => lock.release())
  const beats = new Beats()
  const heard: string[] = []
  const path = join(data, 'lock')
  const stop = startHeartbeat({
    path,
    id: ports.self.id,
    beats,
    onTaken: () => heard.push('taken'),
    onEnd: (reason) => heard.push(reason),
  })
  onTestFinished(stop)
  return { path, beats, heard, stop, lock, notices }
}

const saysOf = (path: string): string => readFileSync(path, 'utf8')

test('the thread changes only the heartbeat in the lock', async () => {
  const { path, beats, stop } = await beating()
  const before = saysOf(path)
  await vi.waitFor(() => expect(beats.last.ticks).toBeGreaterThan(0), PATIENT)
  const after = saysOf(path)
  expect(after).not.toBe(before)
  expect(after).toHaveLength(before.length)
  expect(holderIn(after)).toEqual(holderIn(before))
  await vi.waitFor(() => expect(saysOf(path)).not.toBe(after), PATIENT)
  await stop()
  expect(beats.last).toEqual(beats.lastLook)
  const last = saysOf(path)
  expect(Number(JSON.parse(last).beat)).toBeGreaterThanOrEqual(Math.round(beats.last.ticks * 1000))
})

test('the thread reports the lock of another holder and never writes into it', async () => {
  const { path, heard, beats } = await beating()
  rmSync(path)
  const other = JSON.stringify({ beat: '0'.repeat(20), id: 'other', pid: 1, host: 'elsewhere' })
  writeFileSync(path, other)
  await vi.waitFor(() => expect(heard).toContain('taken'), PATIENT)
  expect(saysOf(path)).toBe(other)
  const { ticks } = beats.last
  await vi.waitFor(() => expect(heard.length).toBeGreaterThan(1), PATIENT)
  expect(beats.last.ticks).toBe(ticks)
})

test('a thread that finds no lock keeps looking, which does not count as a heartbeat', async () => {
  const { path, beats } = await beating()
  rmSync(path)
  await vi.waitFor(() => expect(beats.lastLook.ticks).toBeGreaterThan(beats.last.ticks), PATIENT)
})

test('a lock reports the end of its thread and is checked before each write from then on', async () => {
  const data = join(folder(onTestFinished), 'data')
  const notices: StorageNotice[] = []
  let end: (reason: string) => void = () => {}
  const ports = {
    ...realPorts(),
    startHeartbeat: ({ onEnd }: { onEnd: (reason: string) => void }) => {
      end = onEnd
      return async () => {}
    },
  }
  const lock = await Lock.take(data, (notice) => notices.push(notice), ports)
  onTestFinished(() => lock.release())
  lock.startHeartbeat('now')
  end('Error: out of memory')
  expect(notices).toEqual([
    expect.objectContaining({
      event: 'lock_unwatched',
      message: expect.stringContaining('has stopped: Error: out of memory.'),
    }),
  ])
  lock.check()
})
