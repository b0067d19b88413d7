import { after, kept } from './browser.ts'

document.documentElement.dataset.theme = kept('theme') ?? 'system' // before anything is drawn
requestAnimationFrame(() => after(0, () => import('./app.tsx'))) // after the frame in the HTML is drawn
