import { effect, signal } from '@preact/signals'
import { keep, kept } from './browser.ts'

const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const theme = signal<Theme>(THEMES.find((each) => each === kept('theme')) ?? 'system')

effect(() => {
  document.documentElement.dataset.theme = theme.value
  keep('theme', theme.value)
})

/** Changes to the next theme: system, light, dark, and then system again. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] as Theme
}

/** Whether single letters are shortcuts; the user can turn these off (WCAG 2.1.4). */
export const hasLetterKeys = signal(kept('letter-keys') !== 'off')

effect(() => keep('letter-keys', hasLetterKeys.value ? 'on' : 'off'))
