// Files that mostly wait for processes begin first: at the end one of them would run alone.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const WAITING = /faults\/faults|contract\.test|interrupt|start\.test|level-emulators/;

export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const { waiting = [], others = [] } = Object.groupBy(sorted, ({ moduleId }) =>
      WAITING.test(moduleId) ? 'waiting' : 'others',
    );
    return [...waiting, ...others];
  }
}
