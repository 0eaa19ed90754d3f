"""Maskable PPO of Stable-Baselines3, trained to place small graphs; compared with random actions.

pip install '.[rl]'; python examples/maskable_ppo.py [STEPS]
"""

import sys

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks

import streamplace as sp
from streamplace.learning.env import ID

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
TRAINING = sp.Recipe("series-parallel", 1000, sizes=range(6, 13), seed=1)
UNSEEN = sp.Recipe("series-parallel", 200, sizes=range(6, 13), seed=2)


def mean_reward(model: MaskablePPO | None) -> float:
    """Return the mean relative throughput over the unseen graphs; None takes random actions."""
    env = gymnasium.make(ID, graphs=UNSEEN, cluster="3x2500")
    env.action_space.seed(0)
    rewards = []
    for number in range(UNSEEN.count):
        observation, info = env.reset(options={"graph": number})
        over = False
        while not over:
            if model is None:
                action = env.action_space.sample(mask=info["action_mask"])
            else:
                masks = get_action_masks(env)
                action, _ = model.predict(observation, action_masks=masks, deterministic=True)
            observation, reward, over, _, info = env.step(action)
        rewards.append(float(reward))
    return float(np.mean(rewards))


model = MaskablePPO(
    "MlpPolicy",
    gymnasium.make(ID, graphs=TRAINING, cluster="3x2500"),
    n_steps=1000,
    batch_size=250,
    gamma=1.0,  # there is only one reward, at the end
    learning_rate=1e-3,
    seed=0,
    device="cpu",
)
random = mean_reward(None)
model.learn(STEPS)
trained = mean_reward(model)
print(f"relative throughput on {UNSEEN.count} unseen graphs after {STEPS} steps:")
print(f"random actions {random:.3f}, trained policy {trained:.3f}")
print("the trained policy is better" if trained > random else "random actions are as good")
