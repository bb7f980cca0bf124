/** The style of the pages: light or dark as the reader's system, and wide enough for a table of figures. */
export const style = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1b2430, #e6eaf0); --soft: light-dark(#5b6775, #9aa6b4); --paper: light-dark(#fff, #12171e);
  --raised: light-dark(#f5f7f9, #1a212a); --rule: light-dark(#dde3e9, #2b3540);
  --first: light-dark(#1f6feb, #58a6ff); --second: light-dark(#2da44e, #4ac26b); --bad: light-dark(#b3261e, #ff8a80);
  --third: light-dark(#b35900, #f0a35e); --fourth: light-dark(#8250df, #bc8cff);
}
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif }
.skip { position: absolute; left: -9999px }
.skip:focus { left: 8px; top: 8px; padding: 6px 12px; background: var(--raised); z-index: 1 }
:focus-visible { outline: 3px solid var(--first); outline-offset: 2px }
main:focus { outline: none }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 24px; padding: 12px 24px; border-bottom: 1px solid var(--rule); color: var(--soft) }
.home { color: var(--ink); font-weight: 600; text-decoration: none; padding: 4px 0 }
header .search { margin: 0; flex: 1 1 320px; display: flex; gap: 8px }
.search label { flex: 1; display: flex; align-items: center; gap: 8px }
.search input { flex: 1; min-width: 0 }
nav { flex-basis: 100% }
nav ul { display: flex; flex-wrap: wrap; gap: 2px 4px; margin: 0; padding: 0; list-style: none }
nav a { display: inline-block; padding: 4px 10px; border-radius: 6px; color: var(--ink); text-decoration: none }
nav a:hover, nav a[aria-current] { background: var(--raised) }
nav a[aria-current] { font-weight: 600; box-shadow: inset 0 -2px var(--first) }
footer { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; padding: 12px 24px; border-top: 1px solid var(--rule); color: var(--soft) }
main { max-width: 1180px; margin: 0 auto; padding: 8px 24px 48px }
h1 { font-size: 22px; margin: 20px 0 4px; overflow-wrap: anywhere }
h2 { font-size: 17px; margin: 0 }
p { overflow-wrap: anywhere }
p { margin: 4px 0; color: var(--soft) }
a { color: var(--first) }
section, figure { margin: 24px 0 0; overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: 14px }
caption, figcaption { text-align: left; font-weight: 600; padding: 0 0 6px; color: var(--ink) }
caption, figcaption { position: sticky; left: 0; max-width: calc(100vw - 48px) }
th, td { padding: 6px 10px; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top }
th { font-weight: 500; color: var(--soft); white-space: nowrap }
.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tbody tr:hover, tbody tr:hover td { background: var(--raised) }
.empty, .message { color: var(--soft) }
.message { font-size: 18px; margin-top: 32px }
.bad { color: var(--bad) }
form { margin: 12px 0 0 }
fieldset { border: 1px solid var(--rule); border-radius: 8px; padding: 8px 14px 12px; margin: 0; min-width: 0 }
fieldset label { display: inline-block; margin: 4px 8px 4px 0 }
legend { font-weight: 600; padding: 0 4px }
form.inline { display: inline; margin: 0 }
.fields { display: grid; gap: 12px; max-width: 420px }
.fields label { display: grid; gap: 4px }
.fields button, .question button { justify-self: start; background: var(--first); border-color: var(--first); color: var(--paper); padding: 6px 16px }
.question { padding: 12px 16px; border: 1px solid var(--rule); border-radius: 8px; margin-top: 16px }
.question p { margin: 0 0 8px }
.notice { padding: 8px 14px; border-left: 4px solid var(--second); background: var(--raised); color: var(--ink); border-radius: 4px }
.actions a { margin-right: 12px }
td { unicode-bidi: isolate; white-space: nowrap }
.words { white-space: normal; overflow-wrap: anywhere; min-width: 160px }
input, select, button { font: inherit; padding: 4px 10px; border: 1px solid var(--rule); border-radius: 6px; background: var(--raised); color: var(--ink) }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 16px 0 0; padding: 0 }
.tiles div { background: var(--raised); border-radius: 8px; padding: 12px 16px }
.tiles dt { color: var(--soft); font-size: 13px }
.tiles dd { margin: 0; font-size: 19px; font-variant-numeric: tabular-nums }
.plot { width: 100%; height: auto; display: block }
.grid { stroke: var(--rule) }
.axis { fill: var(--soft); font-size: 12px; text-anchor: middle }
.axis.value, .axis.end { text-anchor: end }
.axis.start { text-anchor: start }
.bar0, .line0 { fill: var(--first); background: var(--first) }
.bar1 { fill: var(--second); background: var(--second) }
.line { fill: none; stroke: var(--first); stroke-width: 2 }
.dot { fill: var(--first) }
.series { fill: none; stroke: var(--line); stroke-width: 2 }
.series0 { --line: var(--first) }
.series1 { --line: var(--second) }
.series2 { --line: var(--third) }
.series3 { --line: var(--fourth) }
.key[class*="series"] { background: var(--line) }
.point { fill: var(--line); stroke: var(--line) }
.point.faint { fill: var(--paper) }
.key { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin: 0 6px 0 0 }
.key ~ .key, .note { margin-left: 16px }
.note { color: var(--soft); font-weight: 400 }
/* A table of figures is scrolled sideways; what the row is about stays where it is. */
@media (max-width: 700px) {
  header, main, footer { padding-left: 16px; padding-right: 16px }
  caption, figcaption { max-width: calc(100vw - 32px) }
  th, td { padding: 6px 8px }
  th:first-child, td:first-child:not(.empty) { position: sticky; left: 0; background: var(--paper) }
  td { white-space: nowrap }
  .words { min-width: 120px; white-space: normal }
  .words:not(:first-child) { min-width: 260px }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)) }
  .tiles dd { font-size: 17px; overflow-wrap: anywhere }
  .axis { font-size: 24px }
  .axis.minor { display: none }
}
`

/** The sign of the pages in the tab of a browser. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f6feb"/><path d="M7 24V8l9 9 9-9v16" fill="none" stroke="#fff" stroke-width="4" stroke-linejoin="round" stroke-linecap="round"/></svg>`
