import type { Page } from '@playwright/test'
import { expect, test } from 'vitest'
import type { SandboxClient } from '../index.ts'
import { syncPageClock } from './playwright-clock.ts'

test('a Playwright without page.clock is refused, with the version that has it', async () => {
  await expect(syncPageClock({} as SandboxClient, {} as Page)).rejects.toThrow(
    'syncClock() needs page.clock, and this version of Playwright has none: it was added in 1.45. Install @playwright/test 1.45',
  )
})
