// The dashboard uses the browser's time, storage and clipboard only through this file.

/** Real milliseconds since the page was loaded. */
export const pageTime = (): number => performance.now()

/** Calls back after some real milliseconds. @returns a function that cancels it */
export function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms)
  return () => clearTimeout(timer)
}

/** Calls back again and again, with this many real milliseconds between the calls. @returns a function that ends it */
export function every(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms)
  return () => clearInterval(timer)
}

/** Joins all calls before the next frame into one. In a hidden tab, which has no frames, one call runs per 250 ms. */
export function perFrame(call: () => void): () => void {
  let isWaiting = false
  return () => {
    if (isWaiting) return
    isWaiting = true
    const run = () => {
      isWaiting = false
      call()
    }
    if (document.hidden) after(250, run)
    else requestAnimationFrame(run)
  }
}

/** Runs a call once at a time. All calls during a run are one more run, a quarter of a second after it. */
export function coalesced(call: () => Promise<void>): () => void {
  let isRunning = false
  let isWaiting = false
  const run = (): void => {
    isWaiting = isRunning
    if (isRunning) return
    isRunning = true
    void call().finally(() =>
      after(isWaiting ? 250 : 0, () => {
        isRunning = false
        if (isWaiting) run()
      }),
    )
  }
  return run
}

/** The storage of the browser, or that of the tab, which ends with it: the control token is kept nowhere else. */
type Store = 'localStorage' | 'sessionStorage'

/** A value that was kept. Null without one, and in a browser without storage. */
export function kept(name: string, store: Store = 'localStorage'): string | null {
  try {
    return globalThis[store].getItem(`emulator.${name}`)
  } catch {
    return null
  }
}

export function keep(name: string, value: string, store: Store = 'localStorage'): void {
  try {
    globalThis[store].setItem(`emulator.${name}`, value)
  } catch {
    // Without storage, the next visit starts with the default.
  }
}

/** Copies a text to the clipboard. @returns whether the browser allowed it */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Lets the browser save a text as a file. */
export function download(name: string, text: string, type = 'application/json'): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  after(1_000, () => URL.revokeObjectURL(url))
}
