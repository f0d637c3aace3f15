// Puts a report into the page, which then shows it instead of its form.

const PLACE = /(<script id="data" type="application\/json">)[^]*?(<\/script>)/;

/** `html` is the page without a report. Throws if it has no place for one. */
export function withReport(html: string, report: object): string {
  if (!PLACE.test(html)) throw new Error('the page has no place for a report');
  // `</script>` and `<!--` in a text would end or change the element.
  const json = JSON.stringify(report).replaceAll('<', String.raw`\u003c`);
  return html.replace(PLACE, (_, opening: string, closing: string) => opening + json + closing);
}
