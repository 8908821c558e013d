//! What is left of a team if the daemon is killed while it is made.

use super::super::making::Making;
use super::*;

async fn thread(core: &Core, home: &Home) -> ThreadId {
    let new = NewThread { cwd: home.path(), ..NewThread::default() };
    core.threads().start(new).await.unwrap().thread.id
}

#[tokio::test]
async fn threads_of_a_team_that_was_only_half_made_are_gone_after_a_restart() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one"]).await;
    let lost = Making {
        team: rookery_model::TeamId::new(7),
        threads: vec![thread(&core, &home).await, ThreadId::new(8)],
    };
    // The last daemon had written the file of this one, and not yet forgotten that it makes it.
    let late = thread(&core, &home).await;
    let kept = Making { team: team.id, threads: vec![team.members[1].thread, late] };
    // What the file of this one says is not known.
    let unreadable =
        Making { team: rookery_model::TeamId::new(9), threads: vec![thread(&core, &home).await] };
    std::fs::write(home.teams().join(format!("{}.json", unreadable.team)), "{").unwrap();
    for making in [&lost, &kept, &unreadable] {
        core.teams().note_making(making).unwrap();
    }
    let own = thread(&core, &home).await;
    core.stop(StopKind::KeepTerminals).await.unwrap();
    drop(core);
    for _ in 0..2 {
        let core = home.core().await;
        let mut left: Vec<ThreadId> = core.look().threads.keys().copied().collect();
        left.sort();
        let mut expected = vec![team.lead, team.members[1].thread, unreadable.threads[0], own];
        expected.sort();
        assert_eq!(left, expected);
        assert_eq!(core.teams().get(team.id).unwrap().members.len(), 2);
        core.stop(StopKind::KeepTerminals).await.unwrap();
    }
}

#[tokio::test]
async fn nothing_is_noted_of_a_team_once_it_is_made_or_refused() {
    let home = Home::new();
    let core = home.core().await;
    let team = home.team(&core, &["one"]).await;
    let starter = Starter::default();
    core.teams().start_member(team.id, named("two"), &starter).await.unwrap();
    core.teams().start_member(team.id, named("two"), &starter).await.unwrap_err();
    // Its files cannot be written from here on.
    std::fs::rename(home.teams(), home.path().join("aside")).unwrap();
    std::fs::write(home.teams(), "").unwrap();
    core.teams().start_member(team.id, named("three"), &starter).await.unwrap_err();
    let members = vec![named("one")];
    let new = NewTeam { cwd: home.path(), members, ..NewTeam::default() };
    core.teams().start(new).await.unwrap_err();
    assert_eq!(core.look().threads.len(), 3);
    assert_eq!(*core.inner.teams.making.lock(), []);
}
